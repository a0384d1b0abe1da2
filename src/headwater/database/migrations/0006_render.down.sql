drop function charge_slots;
