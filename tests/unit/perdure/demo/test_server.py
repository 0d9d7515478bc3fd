"""Ports for servers that are killed and started again: nobody else may take one while its server is down."""

import socket
import subprocess
import sys
from pathlib import Path

from perdure.demo.server import free_port

PORTS = 50
EPHEMERAL_FROM = 32_768
RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


def test_no_outgoing_connection_is_given_such_a_port_and_none_comes_twice() -> None:
    first = int(RANGE.read_text().split()[0]) if RANGE.exists() else EPHEMERAL_FROM
    ports = [free_port() for _ in range(PORTS)]
    assert len(set(ports)) == PORTS
    assert all(1024 < port < min(first, EPHEMERAL_FROM) for port in ports)


def test_a_port_in_use_is_passed_over() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", free_port() + 1))
        listener.listen()
        taken = listener.getsockname()[1]
        assert taken not in {free_port() for _ in range(PORTS)}


def test_processes_beside_each_other_get_other_ports() -> None:
    code = f"from perdure.demo.server import free_port\nprint(*[free_port() for _ in range({PORTS})])"
    processes = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    ports = [port for process in processes for port in process.communicate()[0].split()]
    assert len(ports) == len(set(ports)) == 3 * PORTS
