"""One part of the app each, with exactly one mistake: what the plugin has to find.

A module declares its correct twin (`TWIN`, as `module:function`; the variant's function has the
same name), what it does to a user (`HARM`), and the windows that expose it (`FAILS_AT`, ids of the
form `POINT+N:FAULT`). Where the twin has points of its own the variant passes the same ones, as far
as it has the same instants.
"""

from __future__ import annotations

VARIANTS = (
    "approval_of_text_only",
    "approval_flag",
    "attempt_id_as_key",
    "backup_of_main_file",
    "cancel_in_memory",
    "check_then_forward",
    "effect_before_record",
    "generation_resets",
    "heartbeat_by_name",
    "lease_without_generation",
    "letter_deleted_first",
    "mark_before_work",
    "migration_in_two",
    "new_operation_id",
    "outbox_sent_inside",
    "outbox_outside",
    "purge_by_age",
    "reaper_without_recheck",
    "receiver_in_memory",
    "receiver_marks_first",
    "settings_in_place",
    "step_after_act",
    "step_before_act",
    "timeout_is_failure",
)
