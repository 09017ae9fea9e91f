"""The figure: the paper's Figure 4 (a) and (b), the killed controller, and the state-to-command time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from .experiment import DIRECT, TRACKED, Record, Results
from .reference import CONSTANT, START_S, Reference

COLOURS = {DIRECT: "#d0021b", "shm": "#1f6fd6", "ipc": "#1a9c6b", "tcp": "#e08a00"}
TITLES = {"step": "(a) Step response", "sinusoid": "(b) Sinusoidal reference"}


def draw(results: Results, out: Path) -> None:
    """Writes the figure as PNG."""
    figure, axes = plt.subplots(2, 2, figsize=(11, 7.5), constrained_layout=True)
    for axis, reference in zip(axes[0], TRACKED):
        _responses(axis, results.idle[reference.name], reference)
    _kills(axes[1][0], results.kill)
    _answers(axes[1][1], results.idle)
    figure.savefig(out, dpi=130)
    plt.close(figure)


def _style(who: str) -> dict[str, str]:
    """The transport's colour; dotted for predictive waiting."""
    transport, _, waiting = who.partition(" ")
    label = "direct" if who == DIRECT else f"ORC, {who}"
    return {"color": COLOURS[transport], "ls": ":" if waiting else "-", "label": label}


def _responses(axis: Any, by_who: dict[str, list[Record]], reference: Reference) -> None:
    for thickness, (who, runs) in zip((3.0, 1.8, 1.4, 1.0, 0.8, 0.6, 0.6), by_who.items()):
        force = np.array([run["force_n"] for run in runs])
        time_s = runs[0]["time_s"] - START_S
        mean, deviation = force.mean(axis=0), force.std(axis=0)
        axis.plot(time_s, mean, lw=thickness, **_style(who))
        axis.fill_between(time_s, mean - deviation, mean + deviation, color=_style(who)["color"], alpha=0.2, lw=0)
    axis.plot(time_s, [reference.force(t + START_S) for t in time_s], "k--", lw=1, label="reference")
    first, last = (-0.03, 0.2) if reference.name == "step" else (0.0, 1.5)
    seen = (time_s >= first) & (time_s <= last)
    axis.set(xlim=(first, last), ylim=(mean[seen].min() - 2, mean[seen].max() + 2))
    axis.set(title=f"{TITLES[reference.name]}, N = {len(runs)}", xlabel="time, s", ylabel="contact force, N")
    _finish(axis)


def _kills(axis: Any, kills: dict[str, Record]) -> None:
    axis.set(title="(c) Controller killed, and restarted", xlabel="time, s", ylabel="contact force, N")
    for who, run in kills.items():
        axis.plot(run["time_s"], run["force_n"], lw=1, **_style(who))
        silent = run["silence_s"] > 0.1
        axis.fill_between(run["time_s"], 0, 1, where=silent, transform=axis.get_xaxis_transform(), color="0.9", lw=0)
    if kills:
        axis.axhline(CONSTANT.force(0.0), color="k", ls="--", lw=1, label="reference")
        axis.set(xlim=(1, None))
    _finish(axis)


def _answers(axis: Any, idle: dict[str, dict[str, list[Record]]]) -> None:
    axis.set(title="(d) State to command, in the robot's process", xlabel="time, µs", ylabel="share that took longer")
    for who in next(iter(idle.values())):
        answers = np.concatenate([run["answer_us"] for by_who in idle.values() for run in by_who[who]])
        answers = np.sort(answers[~np.isnan(answers)])
        axis.plot(answers, 1 - np.arange(len(answers)) / len(answers), **_style(who))
    axis.set(xscale="log", yscale="log")
    _finish(axis)


def _finish(axis: Any) -> None:
    axis.grid(color="0.88")
    if axis.get_legend_handles_labels()[0]:
        axis.legend(fontsize=8, loc="best")
