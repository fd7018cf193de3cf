"""The engine in WebAssembly, under Node, against the native one: the same trials, numbers and messages."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import thalweg
from thalweg import Scenario

MODULE = Path(__file__).parents[2] / "target" / "web" / "node" / "thalweg_web.js"
C4 = [entry.name for entry in thalweg.suites()["c4"]] if hasattr(thalweg, "suites") else []
