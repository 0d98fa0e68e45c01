"""These tests are about what is on the disk after kills, erasures and full disks."""

from support.on_disk import tmp_path as tmp_path
