-- Adds two arrays of the same length element by element.
create function add_counts(one int8[], other int8[]) returns int8[]
language sql immutable strict parallel safe as $$
  select array_agg(a + b order by place) from unnest(one, other) with ordinality as pair (a, b, place)
$$;
