"""The parts of the LCM tunnel. schemas/LCM-TUNNEL.md has the bytes, liborc/doc/guide/lcm-tunnel.md the options."""
