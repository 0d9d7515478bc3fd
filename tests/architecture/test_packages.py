"""A package's `__init__` introduces it and holds no logic, so that importing one module does not run its neighbours."""

import ast

import pytest

from tests.architecture.source_tree import CODE_FOLDERS, ROOT, Module, modules, report

TYPED_PACKAGES = ("durable_core", "perdure")


def _is_introduction(node: ast.stmt) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom():
            return True
        case ast.Expr(value=ast.Constant(value=str())):
            return True
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            return _is_literal(value)
        case _:
            return False


def _is_literal(value: ast.expr) -> bool:
    try:
        ast.literal_eval(value)
    except ValueError:
        return False
    return True


def test_an_init_file_holds_only_its_docstring_imports_and_literal_names() -> None:
    offenders = [
        f"{module.path}:{node.lineno} {type(node).__name__}"
        for module in modules()
        if module.is_init
        for node in module.tree.body
        if not _is_introduction(node)
    ]
    assert not offenders, report("Logic in __init__ files; give it a module of its own:", offenders)


def test_every_folder_with_modules_is_a_package_that_says_what_lives_there() -> None:
    inits = {module.path for module in modules() if module.is_init}
    folders = {module.path.rpartition("/")[0] for module in modules()} - set(CODE_FOLDERS)
    offenders = [folder for folder in sorted(folders) if f"{folder}/__init__.py" not in inits]
    assert not offenders, report("Folders without an __init__.py:", offenders)


def _has_docstring(module: Module) -> bool:
    return ast.get_docstring(module.tree) is not None


def test_every_module_opens_with_a_docstring() -> None:
    offenders = [module.path for module in modules() if not _has_docstring(module)]
    assert not offenders, report("Modules that do not say what lives in them:", offenders)


@pytest.mark.parametrize("package", TYPED_PACKAGES)
def test_the_packages_ship_their_types(package: str) -> None:
    assert (ROOT / "lib" / package / "py.typed").is_file()
