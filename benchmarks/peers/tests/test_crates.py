"""The peers in Rust build from the same crates everywhere."""

import field
import pytest

tomllib = pytest.importorskip("tomllib")
RUST = field.HERE / "rust"


def toml(name):
    return tomllib.loads((RUST / name).read_text())


def test_every_peer_in_rust_has_its_program():
    programs = {program["name"]: program for program in toml("Cargo.toml")["bin"]}
    peers = {peer for peer in field.PEERS if peer.source.startswith("rust/")}
    assert {f"peer_{peer.program}" for peer in peers} == programs.keys()
    for peer in peers:
        program = programs[f"peer_{peer.program}"]
        assert (f"rust/{program['path']}", program["required-features"]) == (peer.source, [peer.program])


def test_every_crate_is_pinned():
    wanted, locked = toml("Cargo.toml"), toml("Cargo.lock")
    crates = {crate["name"]: crate for crate in locked["package"] if crate["name"] != wanted["package"]["name"]}
    assert all("checksum" in crate for crate in crates.values())
    for peer in wanted["features"]:
        assert wanted["dependencies"][peer]["version"] == f"={crates[peer]['version']}"
    assert "--locked" in (field.HERE / "run").read_text()
