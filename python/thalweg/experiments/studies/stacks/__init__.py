"""The study `stacks`: the modelled endpoint and a real QUIC stack under the same controllers."""
