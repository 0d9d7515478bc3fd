"""`Catalog`: namespaces and the deployment's facts."""

from dataclasses import replace

import pytest

from durable_core.model.errors import Conflict
from durable_core.ports.catalog import Deployment, NamespaceRecord

from ..backend import Factory

SHOP = NamespaceRecord("id-shop", "shop", 1, b"\x00body")


class CatalogContract:
    def test_the_first_facts_of_a_deployment_stay(self, factory: Factory) -> None:
        first = Deployment("first", 16, 1)
        assert factory.open().catalog.deployment(first) == first
        assert factory.open().catalog.deployment(Deployment("second", 32, 2)) == first
        assert factory.second().catalog.deployment(Deployment("second", 32, 2)) == first

    def test_a_namespace_is_found_by_name_and_by_id(self, factory: Factory) -> None:
        catalog = factory.open().catalog
        catalog.create_namespace(SHOP)
        assert catalog.namespace("shop") == SHOP
        assert catalog.namespace_by_id("id-shop") == SHOP
        assert catalog.namespace("id-shop") is None
        assert catalog.namespace_by_id("shop") is None
        assert catalog.namespace("Shop") is None

    def test_neither_a_name_nor_an_id_is_given_twice(self, factory: Factory) -> None:
        catalog = factory.open().catalog
        catalog.create_namespace(SHOP)
        for record in (SHOP, replace(SHOP, name="other"), replace(SHOP, namespace_id="other")):
            with pytest.raises(Conflict):
                catalog.create_namespace(record)
        assert list(catalog.namespaces("", 10)) == [SHOP]

    def test_an_update_asks_for_the_version_before_it(self, factory: Factory) -> None:
        catalog = factory.open().catalog
        catalog.create_namespace(SHOP)
        second = replace(SHOP, version=2, body=b"second")
        catalog.update_namespace(second)
        for version in (1, 2, 4):
            with pytest.raises(Conflict):
                catalog.update_namespace(replace(SHOP, version=version, body=b"wrong"))
        assert catalog.namespace("shop") == second
        assert catalog.namespace_by_id("id-shop") == second

    def test_updating_a_namespace_that_does_not_exist_is_a_conflict(self, factory: Factory) -> None:
        catalog = factory.open().catalog
        with pytest.raises(Conflict):
            catalog.update_namespace(SHOP)
        assert catalog.namespace("shop") is None

    def test_an_update_may_rename_and_frees_the_old_name(self, factory: Factory) -> None:
        catalog = factory.open().catalog
        catalog.create_namespace(SHOP)
        renamed = replace(SHOP, name="shop-deleted", version=2)
        catalog.update_namespace(renamed)
        assert catalog.namespace("shop") is None
        assert catalog.namespace("shop-deleted") == renamed
        successor = NamespaceRecord("id-new", "shop", 1, b"")
        catalog.create_namespace(successor)
        with pytest.raises(Conflict):
            catalog.update_namespace(replace(renamed, name="shop", version=3))
        assert catalog.namespace("shop") == successor
        assert catalog.namespace_by_id("id-shop") == renamed

    def test_namespaces_are_paged_in_the_order_of_their_names(self, factory: Factory) -> None:
        catalog = factory.open().catalog
        names = ["Z", "a", "a-1", "a1", "b", "ä"]
        for name in reversed(names):
            catalog.create_namespace(NamespaceRecord(f"id-{name}", name, 1, b""))
        assert [record.name for record in catalog.namespaces("", 100)] == names
        pages: list[str] = []
        while page := catalog.namespaces(pages[-1] if pages else "", 4):
            pages += [record.name for record in page]
        assert pages == names
        assert list(catalog.namespaces("ä", 4)) == []
