# SPDX-License-Identifier: Apache-2.0
"""Three operators, one simulated database: what scripts/demo-coordination plays, checks and prints."""
