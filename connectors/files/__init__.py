"""Telemetry that lies as files on this machine: folders of bundles, and logs at configured paths."""
