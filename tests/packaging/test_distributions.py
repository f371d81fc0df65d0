"""What is in the wheel and in the source distribution. Both are built without a network."""

from __future__ import annotations

import re
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "llama3_tools",
    "llama3_acceptance",
    "langchain_llama3_tools",
    "llama_index_llama3_tools",
    "llama3_gateway",
    "pytest_llama3_tools",
    "llama3_batch",
    "sglang_llama3_tools",
    "vllm_llama3_tools",
}


def build(builder: type[SdistBuilder | WheelBuilder], source: Path, into: Path) -> Path:
    """Build one distribution with the backend that is installed here."""
    (built,) = builder(str(source)).build(directory=str(into), versions=["standard"])
    return Path(built)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    return zipfile.ZipFile(build(WheelBuilder, ROOT, tmp_path_factory.mktemp("wheel")))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, unpacked."""
    unpacked = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(build(SdistBuilder, ROOT, tmp_path_factory.mktemp("sdist"))) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # the default from Python 3.14 on
        archive.extractall(unpacked)  # noqa: S202 - the archive was built a line above
    (root,) = unpacked.iterdir()
    return root


def contents(wheel: zipfile.ZipFile) -> dict[str, bytes]:
    return {name: wheel.read(name) for name in wheel.namelist()}


def metadata(wheel: zipfile.ZipFile) -> dict[str, list[str]]:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    message = Parser().parsestr(wheel.read(name).decode())
    return {key: message.get_all(key, []) for key in set(message.keys())}


def test_the_wheel_holds_the_import_packages_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    tops = {name.split("/")[0] for name in wheel.namelist() if ".dist-info/" not in name}
    assert tops == PACKAGES


def test_every_source_file_is_in_the_wheel(wheel: zipfile.ZipFile) -> None:
    sources = {
        str(path.relative_to(root))
        for root in (ROOT / "shared", ROOT / "integrations")
        for path in root.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in wheel.namelist() if ".dist-info/" not in name} == sources


def test_the_core_needs_no_other_package(wheel: zipfile.ZipFile) -> None:
    assert [line for line in metadata(wheel)["Requires-Dist"] if "extra ==" not in line] == []


def test_the_extras_are_those_that_the_documentation_names(wheel: zipfile.ZipFile) -> None:
    table = (ROOT / "docs" / "install.md").read_text("utf-8").partition("## The extras\n")[2].partition("\n\n*")[0]
    named = re.findall(r"^\| `([a-z-]+)` ", table, re.MULTILINE)
    assert {*named, "demo"} == set(metadata(wheel)["Provides-Extra"])  # examples/README.md names the last


@pytest.mark.parametrize(
    "entry_point",
    [
        "[pytest11]\nllama3_tools = pytest_llama3_tools\n",
        (
            "[llama3_tools.commands]\naccept = llama3_acceptance.cli.accept:accept\n"
            "doctor = llama3_acceptance.cli.doctor:doctor\nserve = llama3_gateway.command:serve\n"
        ),
        "[llama3_tools.extract_input]\nfiles = llama3_batch.cli.file_options:add_files\n",
        "[vllm.general_plugins]\nllama3_tools = vllm_llama3_tools:register\n",
        "[sglang.srt.plugins]\nllama3_tools = sglang_llama3_tools:register\n",
    ],
    ids=["pytest", "the command", "files of many outputs", "vLLM", "SGLang"],
)
def test_the_plugins_and_the_subcommands_are_found(wheel: zipfile.ZipFile, entry_point: str) -> None:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/entry_points.txt"))
    assert entry_point in f"{wheel.read(name).decode()}\n"


def test_links_of_the_readme_lead_to_the_version_in_the_repository(wheel: zipfile.ZipFile) -> None:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    description = Parser().parsestr(wheel.read(name).decode()).get_payload()
    assert isinstance(description, str)
    links = re.findall(r"(!?)\[[^\]]*\]\(([^)\s]+)\)", description)
    (version,) = metadata(wheel)["Version"]
    places = {True: f"/llama3-tools/raw/v{version}/docs/assets/", False: f"/llama3-tools/blob/v{version}/docs/"}
    assert [link for _, link in links if not link.startswith(("http", "#"))] == []
    assert all(any(places[is_image] in link for image, link in links if bool(image) is is_image) for is_image in places)


def test_the_licence_is_in_the_wheel(wheel: zipfile.ZipFile) -> None:
    assert metadata(wheel)["License-Expression"] == ["MIT"]
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in wheel.namelist())


def test_the_source_distribution_builds_the_same_wheel(wheel: zipfile.ZipFile, sdist: Path, tmp_path: Path) -> None:
    rebuilt = zipfile.ZipFile(build(WheelBuilder, sdist, tmp_path))
    assert contents(rebuilt) == contents(wheel)
