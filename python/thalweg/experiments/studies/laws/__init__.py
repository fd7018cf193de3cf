"""The study `laws`: what the standards imply for any faithful controller and queue, checked by measurement.

experiment.py     one number that a law bounds on both sides, with its clause and its arithmetic; one scenario and
                  what its trials measure
parameters.py     which experiments a preset has, and what they cost
window_law.py     the average window under random loss, out of RFC 9438 and RFC 9002
window.py, utilisation.py, queues.py, timeout.py, persistent.py, bbr_cycle.py
                  the experiments of each family of laws
checks.py         from quantities to checks; agreement of the modelled endpoint and the real stack
study.py          columns and tables; figures.py has the page
"""
