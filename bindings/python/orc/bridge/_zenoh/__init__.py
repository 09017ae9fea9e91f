"""The parts of the bridge to Zenoh. schemas/ZENOH.md has the bytes, liborc/doc/guide/zenoh.md the options."""
