"""clang-tidy over the files of a build, many files in one translation unit.

clang-tidy 14 matches its checks against everything that a file includes, system headers too, so most of a file's time
goes to headers that the file before it also had. Files that are compiled with the same options are therefore checked
together, as one file that includes them. A file that cannot live with the others (two of them define the same name)
goes to the next such file, at last alone.

usage: tidy.py WORK CLEAN TOOL COMPILER JOBS < FILES
Each file of FILES that WORK/compile_commands.json compiles; what was found clean is remembered in the folder CLEAN by a
hash of the file, its options, the headers of its component that it includes, and WORK/inputs, which has the settings.
Clones share CLEAN.
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

FILES_TOGETHER = 16
INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
# What every program or fuzz target defines once.
ONCE = ("main", "LLVMFuzzerTestOneInput")


def options_of(entry):
    """The compiler's options, without the file, its object and what only GCC knows."""
    words = iter(shlex.split(entry["command"])[1:])
    kept = []
    for word in words:
        if word == "-o":
            next(words)
        elif word != "-c" and word != entry["file"]:
            kept.append(word)
    return tuple(kept)


def include_folders(options):
    """Where the options look for headers."""
    words = iter(options)
    folders = []
    for word in words:
        if word in ("-I", "-isystem", "-iquote"):
            folders.append(next(words))
        elif word.startswith("-I"):
            folders.append(word[2:])
    return folders


def top_folder(root, file):
    return os.path.relpath(file, root).split(os.sep)[0]


class checker:
    def __init__(self, root, work, clean, tool, compiler):
        self.root, self.work, self.clean, self.tool, self.compiler = root, work, clean, tool, compiler
        # our headers, and the files themselves, which are headers of the file that includes them
        self.header_filter = rf"{re.escape(root)}/(liborc|broker|tools|tests|benchmarks|schemas)/.*\.(h|cpp)$"
        with open(os.path.join(work, "inputs"), "rb") as file:
            self.inputs = hashlib.sha256(file.read())
        self.read = {}  # path -> its hash, and what it includes

    def contents(self, path):
        if path not in self.read:
            with open(path, "rb") as file:
                text = file.read()
            self.read[path] = (hashlib.sha256(text).digest(), [name.decode() for name in INCLUDE.findall(text)])
        return self.read[path]

    def component(self, path):
        parts = os.path.relpath(path, self.root).split(os.sep)
        return parts[:2] if parts[0] == "tools" else parts[:1]

    def seen_by(self, file, options):
        """The file, and the headers of its own component that it includes itself.

        Others' headers are checked with their own files: a change of one that all include does not call for all.
        """
        folders = [folder for folder in include_folders(options) if folder.startswith(self.root)]
        seen = {file}
        for name in self.contents(file)[1]:
            for folder in (os.path.dirname(file), *folders):
                found = os.path.normpath(os.path.join(folder, name))
                if found.startswith(self.root) and os.path.isfile(found):
                    if self.component(found) == self.component(file):
                        seen.add(found)
                    break
        return sorted(seen)

    def stamp(self, file, options):
        state = self.inputs.copy()
        # CMake orders them in another way when it runs again
        state.update("\n".join(sorted(options)).replace(self.root, ".").encode())
        for path in self.seen_by(file, options):
            state.update(os.path.relpath(path, self.root).encode() + self.contents(path)[0])
        return os.path.join(self.clean, state.hexdigest()[:40])

    def together(self, files):
        """One file that includes these; of one file, the file itself."""
        if len(files) == 1:
            return files[0]
        text = ""
        for number, file in enumerate(files):
            text += "".join(f"#define {name} {name}_{number}\n" for name in ONCE)
            text += f'#include "{file}"  // NOLINT\n'
            text += "".join(f"#undef {name}\n" for name in ONCE)
        # where clang-tidy finds the settings of the folder that the files are in
        top = top_folder(self.root, files[0])
        folder = os.path.join(self.work, top)
        os.makedirs(folder, exist_ok=True)
        settings = os.path.join(self.root, top, ".clang-tidy")
        if os.path.exists(settings):
            shutil.copy(settings, folder)
        path = os.path.join(folder, hashlib.sha256(text.encode()).hexdigest()[:16] + ".cpp")
        with open(path, "w") as out:
            out.write(text)
        return path

    def intruders(self, files, directory, options):
        """Those of the files in which the compiler finds errors when all are one translation unit."""
        run = subprocess.run([self.compiler, *options, "-fsyntax-only", "-w", "-ferror-limit=0", self.together(files)],
                             cwd=directory, capture_output=True, text=True)
        if run.returncode == 0:
            return []
        wrong = set(re.findall(r"^(/[^:\n]+):\d+:\d+: (?:fatal )?error:", run.stderr, re.MULTILINE))
        # an error in a header has no culprit: the later half goes
        return [file for file in files if file in wrong and file != files[0]] or files[len(files) // 2:]

    def check(self, files, directory, options):
        """What clang-tidy says of the files: whether all are clean, and its text."""
        text = ""
        clean = True
        stamps = {file: self.stamp(file, options) for file in files}  # before: an edit meanwhile was not checked
        while files:
            batch = files
            while len(batch) > 1:
                intruders = self.intruders(batch, directory, options)
                if not intruders:
                    break
                batch = [file for file in batch if file not in intruders]
            files = [file for file in files if file not in batch]
            path = self.together(batch)
            # together, a name may shadow a neighbour's, and a main that is called otherwise returns nothing
            but = [] if len(batch) == 1 else ["-Wno-shadow", "-Wno-return-type"]
            run = subprocess.run([self.tool, "--quiet", f"--header-filter={self.header_filter}", path, "--",
                                  *options, "-Wno-unknown-warning-option", *but],
                                 cwd=directory, capture_output=True, text=True)
            if run.returncode == 0:
                for file in batch:
                    open(stamps[file], "w").close()
            else:
                clean = False
                names = " ".join(os.path.relpath(file, self.root) for file in batch)
                text += f"{run.stdout}clang-tidy: in {names}\n"
        return clean, text


def main():
    work_folder, clean_folder, tool, compiler, jobs = sys.argv[1:]
    root = os.getcwd()
    ours = {os.path.join(root, line.strip()) for line in sys.stdin}
    tidy = checker(root, work_folder, clean_folder, tool, compiler)
    groups = collections.defaultdict(list)
    with open(os.path.join(work_folder, "compile_commands.json")) as file:
        seen = set()
        for entry in json.load(file):
            if entry["file"] in ours and entry["file"] not in seen:
                seen.add(entry["file"])
                key = (entry["directory"], options_of(entry), top_folder(root, entry["file"]))
                groups[key].append(entry["file"])
    work = []
    for (directory, options, _), files in groups.items():
        files = sorted(file for file in files if not os.path.exists(tidy.stamp(file, options)))
        parts = -(-len(files) // FILES_TOGETHER)
        for part in range(parts):
            work.append((files[part * len(files) // parts:(part + 1) * len(files) // parts], directory, options))
    work.sort(key=lambda item: -len(item[0]))
    clean = True
    with concurrent.futures.ThreadPoolExecutor(int(jobs)) as pool:
        for done in concurrent.futures.as_completed([pool.submit(tidy.check, *item) for item in work]):
            one_clean, text = done.result()
            clean = clean and one_clean
            if text:
                print(text, end="", flush=True)
    sys.exit(0 if clean else 1)


main()
