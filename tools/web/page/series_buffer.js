// The points of one plotted field: a ring of (time, min, max), times rising.

const CAPACITY_MAX = 65536;

export class SeriesBuffer {
  #times;
  #mins;
  #maxs;
  #gaps;  // 1: this point begins anew, no line leads to it
  #begin = 0;
  #size = 0;
  #broken = false;

  constructor(capacity = 4096) {
    this.#allocate(capacity);
  }

  get size() {
    return this.#size;
  }

  get newest() {
    return this.#size > 0 ? this.#times[this.#index(this.#size - 1)] : null;
  }

  // Whole ring as it is now, for a plot that is paused.
  copy() {
    const made = new SeriesBuffer(this.#times.length);
    made.#times.set(this.#times);
    made.#mins.set(this.#mins);
    made.#maxs.set(this.#maxs);
    made.#gaps.set(this.#gaps);
    made.#begin = this.#begin;
    made.#size = this.#size;
    return made;
  }

  clear() {
    this.#begin = 0;
    this.#size = 0;
  }

  // `points`: time, min, max, and so on, as the server sends them. `anew`: they do not continue what is there.
  add(anew, points) {
    if (anew && points.length > 0 && this.#size > 0 && points[0] < this.newest) this.clear();  // a seek to earlier
    if (anew) this.#broken = true;
    for (let at = 0; at + 2 < points.length; at += 3) this.#push(points[at], points[at + 1], points[at + 2]);
  }

  #push(time, min, max) {
    if (!Number.isFinite(time)) return;
    if (!Number.isFinite(min) || !Number.isFinite(max)) {
      this.#broken = true;  // NaN and infinity are nowhere
      return;
    }
    if (this.#size > 0) {
      const last = this.#index(this.#size - 1);
      if (time < this.#times[last] - 1) this.clear();
      else if (time <= this.#times[last]) {  // the same slot again, or a clock that hesitates
        this.#mins[last] = Math.min(this.#mins[last], min);
        this.#maxs[last] = Math.max(this.#maxs[last], max);
        return;
      }
    }
    if (this.#size === this.#times.length) {
      if (this.#size < CAPACITY_MAX) this.#allocate(this.#size * 2);
      else {
        this.#begin = (this.#begin + 1) % this.#times.length;
        this.#size -= 1;
      }
    }
    const at = this.#index(this.#size);
    this.#times[at] = time;
    this.#mins[at] = min;
    this.#maxs[at] = max;
    this.#gaps[at] = this.#broken && this.#size > 0 ? 1 : 0;
    this.#broken = false;
    this.#size += 1;
  }

  // Position of the first point at or after `time`.
  find(time) {
    let low = 0;
    let high = this.#size;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#times[this.#index(middle)] < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // Min and max at or before `time`: what a cursor reads.
  at(time) {
    const position = this.find(time + 1e-9) - 1;
    if (position < 0) return null;
    const index = this.#index(position);
    return {time: this.#times[index], min: this.#mins[index], max: this.#maxs[index]};
  }

  // One number for what a field is at `time`: of the newest point, the end to which the line runs.
  latest(time) {
    const position = this.find(time + 1e-9) - 1;
    if (position < 0) return null;
    const index = this.#index(position);
    const before = this.#index(Math.max(0, position - 1));
    const rising = this.#mins[index] + this.#maxs[index] >= this.#mins[before] + this.#maxs[before];
    const value = rising ? this.#maxs[index] : this.#mins[index];
    return {time: this.#times[index], min: value, max: value};
  }

  // Fills `values` (two for each of `columns` columns from the time `from` on, `width` seconds each) with the extremes of
  // each column, in the order in which a line runs through them. undefined: no point there, the line goes on;
  // null: the line is broken. Points just outside decide where the line meets the edges.
  columns(from, width, columns, values) {
    values.length = columns * 2;
    values.fill(undefined);
    let position = this.find(from);
    let last = this.#between(position, from);
    values[0] = last ?? undefined;
    while (position < this.#size) {
      const index = this.#index(position);
      const column = Math.floor((this.#times[index] - from) / width);
      if (column >= columns) {
        values[columns * 2 - 1] ??= this.#between(position, from + columns * width) ?? undefined;
        break;
      }
      let low = this.#mins[index];
      let high = this.#maxs[index];
      for (position += 1; position < this.#size; position += 1) {
        const next = this.#index(position);
        if (this.#gaps[next] || Math.floor((this.#times[next] - from) / width) !== column) break;
        low = Math.min(low, this.#mins[next]);
        high = Math.max(high, this.#maxs[next]);
      }
      const at = column * 2;
      if (this.#gaps[index] && at > 0 && values[at - 1] === undefined) values[at - 1] = null;
      const rising = last === null || Math.abs(last - low) <= Math.abs(last - high);
      values[at] = rising ? low : high;
      values[at + 1] = rising ? high : low;
      last = values[at + 1];
    }
    return values;
  }

  // Where the line from the point before `position` to the one there is at `time`; null: there is none.
  #between(position, time) {
    if (position <= 0 || position >= this.#size) return null;
    const left = this.#index(position - 1);
    const right = this.#index(position);
    if (this.#gaps[right]) return null;
    const a = (this.#mins[left] + this.#maxs[left]) / 2;
    const b = (this.#mins[right] + this.#maxs[right]) / 2;
    return a + ((b - a) * (time - this.#times[left])) / (this.#times[right] - this.#times[left]);
  }

  #index(position) {
    return (this.#begin + position) % this.#times.length;
  }

  #allocate(capacity) {
    const before = this.#size > 0 ? [this.#times, this.#mins, this.#maxs, this.#gaps] : null;
    const begin = this.#begin;
    const arrays = [Float64Array, Float64Array, Float64Array, Uint8Array].map((Kind) => new Kind(capacity));
    before?.forEach((from, index) => {
      const tail = Math.min(this.#size, from.length - begin);
      arrays[index].set(from.subarray(begin, begin + tail));
      arrays[index].set(from.subarray(0, this.#size - tail), tail);
    });
    [this.#times, this.#mins, this.#maxs, this.#gaps] = arrays;
    this.#begin = 0;
  }
}
