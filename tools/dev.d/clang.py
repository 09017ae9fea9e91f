"""What clang and clang-tidy say of the files of a build.

usage: clang.py tidy|syntax|alone WORK CLEAN COMPILER TIDY JOBS ALL < FILES

tidy:    clang-tidy over each file of FILES that the build compiles.
syntax:  The compiler over the same, for syntax and warnings.
alone:   The compiler over each file of FILES by itself, headers too: it must include what it uses. A header has the
         options of the nearest file that includes it; those that no file includes have none and are left out.

tidy and syntax take many files in one translation unit: most of a file's time goes to headers that the file before it
also had, and clang-tidy 14 matches its checks against system headers, too. Files that the build compiles together, or
with the same options, are therefore checked together, as one file that includes them. A file that cannot live with the
others (two of them define the same name) goes to the next such file, at last alone.

The build is that of build/release/compile_commands.json, the files of the tree are listed in the file ALL. What was found
clean is remembered in the folder CLEAN, which clones share, by a hash of the file, its options, the headers that it
includes (for clang-tidy only those of its component that it includes itself), and WORK/inputs, which has the settings.
"""

import collections
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading

from include_graph import include_graph

BUILD = "build/release"
FILES_TOGETHER = 16
PRECOMPILED = "precompiled"
FILES_TOGETHER_PRECOMPILED = 6  # there is less to save, and tests use the same names
# What every program or fuzz target defines once.
ONCE = ("main", "LLVMFuzzerTestOneInput")


def options_of(entry):
    """The compiler's options, without the file, its object and what only GCC knows; first, PRECOMPILED and its source."""
    words = iter(shlex.split(entry["command"])[1:])
    kept, precompiled = [], []
    for word in words:
        if word == "-o":
            next(words)
        elif word == "-include":
            header = next(words)
            if header.endswith("/cmake_pch.hxx"):
                precompiled = [PRECOMPILED, header]
            else:
                kept += [word, header]
        elif word not in ("-c", "-Winvalid-pch", "-fpch-preprocess", entry["file"]):
            kept.append(word)
    return tuple(precompiled + kept)


def units_of(root, files):
    """file: (folder to compile in, options, group) of those of the files that the build compiles; the first, if several.

    A group can be compiled together: the files that one of the build's own includes, else those of a top folder.
    """
    units = {}
    with open(os.path.join(root, BUILD, "compile_commands.json"), encoding="utf-8") as commands:
        for entry in json.load(commands):
            compiled, group = [entry["file"]], os.path.relpath(entry["file"], root)
            if group.startswith(f"{BUILD}/"):
                if not os.path.exists(entry["file"]):
                    continue  # the build makes it, unlike those that include ours: CMake has made these
                with open(entry["file"], encoding="utf-8") as made:
                    names = re.findall(r'^#include "(.*\.cpp)"', made.read(), re.MULTILINE)
                compiled = [os.path.normpath(os.path.join(os.path.dirname(entry["file"]), name)) for name in names]
            else:
                group = group.split("/")[0]
            for path in compiled:
                file = os.path.relpath(path, root)
                if file in files:
                    units.setdefault(file, (entry["directory"], options_of(entry), group))
    return units


def with_headers(units, graph):
    """The same, and for each header that one of them includes the options of the nearest."""
    nearest = {}
    for unit in sorted(units):
        for file in graph.reached_from(unit):
            if file.endswith(".h"):
                near = len(os.path.commonprefix([file.split("/"), unit.split("/")]))
                nearest.setdefault(file, []).append((-near, unit))
    return {**units, **{file: units[min(found)[1]] for file, found in nearest.items()}}


def component(file):
    parts = file.split("/")
    return parts[:2] if parts[0] == "tools" else parts[:1]


class checker:
    def __init__(self, mode, root, work, clean, compiler, tool, graph):
        self.mode, self.root, self.work, self.clean = mode, root, work, clean
        self.compiler, self.tool, self.graph = compiler, tool, graph
        # our headers, and the files themselves, which are headers of the file that includes them
        self.header_filter = rf"{re.escape(root)}/(liborc|broker|tools|tests|benchmarks|schemas)/.*\.(h|cpp)$"
        with open(os.path.join(work, "inputs"), "rb") as file:
            self.inputs = hashlib.sha256(mode.encode() + file.read())
        self.hashes = {}
        self.made = {}
        self.making = collections.defaultdict(threading.Lock)

    def ready(self, options, directory):
        """The options, with the header as this compiler precompiles it, or, where files must stand alone, without."""
        if options[:1] != (PRECOMPILED,):
            return options
        header, options = options[1], options[2:]
        if self.mode != "syntax":
            return options
        name = hashlib.sha256("\n".join((header, *options)).encode()).hexdigest()[:16]
        path = os.path.join(self.work, f"{name}.h")
        with self.making[name]:
            if path not in self.made:
                with open(path, "w", encoding="utf-8") as out:
                    out.write(f'#include "{header}"\n')
                made = subprocess.run([self.compiler, *options, "-w", "-x", "c++-header", path, "-o", f"{path}.gch"],
                                      cwd=directory, capture_output=True, check=False)
                self.made[path] = made.returncode == 0
        # where it does not compile, the files that include the same say so
        return ("-include", path, *options) if self.made[path] else options

    def hash_of(self, file):
        if file not in self.hashes:
            with open(os.path.join(self.root, file), "rb") as text:
                self.hashes[file] = hashlib.sha256(text.read()).digest()
        return self.hashes[file]

    def seen_by(self, file):
        """The file and the headers whose change calls for another check of it.

        For clang-tidy, the headers of its own component that it includes itself: others' are checked with their own
        files, and a change of one that all include does not call for all.
        """
        if self.mode == "tidy":
            return {file, *(near for near in self.graph.included_by(file) if component(near) == component(file))}
        return self.graph.reached_from(file)

    def stamp(self, file, options):
        state = self.inputs.copy()
        # CMake orders them in another way when it runs again
        state.update("\n".join(sorted(options)).replace(self.root, ".").encode())
        for path in sorted(self.seen_by(file)):
            state.update(path.encode() + self.hash_of(path))
        return os.path.join(self.clean, state.hexdigest()[:40])

    def together(self, files):
        """One file that includes these; of one file, the file itself."""
        if len(files) == 1:
            return os.path.join(self.root, files[0])
        text = ""
        for number, file in enumerate(files):
            text += "".join(f"#define {name} {name}_{number}\n" for name in ONCE)
            text += f'#include "{self.root}/{file}"  // NOLINT\n'
            text += "".join(f"#undef {name}\n" for name in ONCE)
        # where clang-tidy finds the settings of the folder that the files are in
        top = files[0].split("/")[0]
        folder = os.path.join(self.work, top)
        os.makedirs(folder, exist_ok=True)
        settings = os.path.join(self.root, top, ".clang-tidy")
        if os.path.exists(settings):
            shutil.copy(settings, folder)
        path = os.path.join(folder, hashlib.sha256(text.encode()).hexdigest()[:16] + ".cpp")
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    def compile(self, files, directory, options):
        path = self.together(files)
        # GCC and clang complain of `#pragma once` in the file that they are given
        what = ["-include", path, "-x", "c++", os.devnull] if path.endswith(".h") else [path]
        return subprocess.run([self.compiler, *options, "-fsyntax-only", *what], cwd=directory, capture_output=True,
                              text=True, check=False)

    def intruders(self, files, said):
        """Those of the files that the compiler's errors, in `said`, are about when all are one translation unit."""
        wrong = set(re.findall(r"^(/[^:\n]+):\d+:\d+: (?:fatal )?error:", said, re.MULTILINE))
        wrong = {os.path.relpath(path, self.root) for path in wrong}
        # an error in a header has no culprit: the later half goes
        return [file for file in files[1:] if file in wrong] or files[len(files) // 2:]

    def friends(self, files, directory, options):
        """The first of the files, and those of the others that can live with it."""
        while len(files) > 1:
            run = self.compile(files, directory, [*options, "-w", "-ferror-limit=0"])
            if run.returncode == 0:
                break
            intruders = self.intruders(files, run.stderr)
            files = [file for file in files if file not in intruders]
        return files

    def said_of(self, files, directory, options):
        """What the tool says of files that can live together; None when that is nothing."""
        options = [*options, "-Wno-unknown-warning-option"]
        if len(files) > 1:
            # together, a name may shadow a neighbour's, and a main that is called otherwise returns nothing
            options += ["-Wno-shadow", "-Wno-return-type"]
        if self.mode == "tidy":
            run = subprocess.run([self.tool, "--quiet", f"--header-filter={self.header_filter}", self.together(files),
                                  "--", *options], cwd=directory, capture_output=True, text=True, check=False)
        else:
            run = self.compile(files, directory, options)
        return None if run.returncode == 0 else f"{run.stdout}{run.stderr if self.mode != 'tidy' else ''}"

    def check(self, files, directory, options):
        """What is wrong with the files; remembers those with which nothing is."""
        text = ""
        stamps = {file: self.stamp(file, options) for file in files}  # before: an edit meanwhile was not checked
        options = self.ready(options, directory)
        waiting = [files]
        while waiting:
            files = batch = waiting.pop()
            if self.mode == "tidy":  # takes so much longer than the compiler that this is found out before
                batch = self.friends(files, directory, options)
            said = self.said_of(batch, directory, options)
            if said is not None and self.mode == "syntax" and len(batch) > 1:
                intruders = self.intruders(batch, said)
                waiting += [intruders, [file for file in batch if file not in intruders]]
                continue
            if len(batch) < len(files):
                waiting.append([file for file in files if file not in batch])
            if said is None:
                for file in batch:
                    open(stamps[file], "w", encoding="utf-8").close()
            else:
                text += f"{said}{self.mode}: in {' '.join(batch)}\n"
        return text


def main():
    mode, work, clean, compiler, tool, jobs, listed = sys.argv[1:]
    work = os.path.abspath(work)
    root = os.getcwd()
    with open(listed, encoding="utf-8") as names:
        graph = include_graph(root, names.read().split())
    units = units_of(root, graph.files)
    if mode == "alone":
        units = with_headers(units, graph)
    checks = checker(mode, root, work, clean, compiler, tool, graph)
    groups = collections.defaultdict(list)
    for file in sorted(set(sys.stdin.read().split()) & set(units)):
        if not os.path.exists(checks.stamp(file, units[file][1])):
            groups[units[file]].append(file)
    batches = []
    for (directory, options, _), files in groups.items():
        together = FILES_TOGETHER_PRECOMPILED if mode == "syntax" and options[0] == PRECOMPILED else FILES_TOGETHER
        parts = len(files) if mode == "alone" else -(-len(files) // together)
        for part in range(parts):
            batches.append((files[part * len(files) // parts:(part + 1) * len(files) // parts], directory, options))
    batches.sort(key=lambda batch: -len(batch[0]))
    clean = True
    with concurrent.futures.ThreadPoolExecutor(int(jobs)) as pool:
        for done in concurrent.futures.as_completed([pool.submit(checks.check, *batch) for batch in batches]):
            if done.result():
                clean = False
                print(done.result(), end="", flush=True)
    sys.exit(0 if clean else 1)


if __name__ == "__main__":
    main()
