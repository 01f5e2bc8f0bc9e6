export async function fetchPtax(
  _: unknown,
): Promise<
  | { kind: 'rate'; rateE4: bigint; rateDate: string; bulletinAt: Date | null; source: string }
  | { kind: 'unavailable'; faults: string[] }
> {
  return { kind: 'unavailable', faults: [] }
}
