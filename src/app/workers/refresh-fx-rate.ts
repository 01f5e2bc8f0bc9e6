import { fetchPtax, type FetchPtax } from '../../money/fx/fetch-ptax.ts'
import { findCurrentFxRate, findOfficialFxRate, storeFxRate } from '../../money/fx/fx-rates.ts'
import type { Database } from '../../platform/db/open.ts'
import type { Log } from '../../platform/lib/log.ts'

/** The operator is warned when the newest rate is older than this: long weekends are shorter. */
const STALE_AFTER_DAYS = 6

/** Stores the newest closing PTAX rate, unless it is stored already. */
export async function refreshFxRate(
  db: Database,
  log: Log,
  now: Date = new Date(),
  ptax: Partial<FetchPtax> = {},
): Promise<void> {
  const current = await findCurrentFxRate(db, 'live')
  // A slip in a rate that was set by hand must not make the official rates look wrong.
  const known = [current, await findOfficialFxRate(db)].flatMap((rate) => rate?.rateE4 ?? [])
  const found = await fetchPtax({ fetch, now, knownE4s: [...new Set(known)], ...ptax })
  if (found.kind === 'unavailable') {
    log.error('fx_rate_unavailable', { faults: found.faults, current: current?.rateDate })
  } else if (!current || found.rateDate > current.rateDate) {
    await storeFxRate(db, found)
    log.info('fx_rate_stored', {
      rateE4: found.rateE4,
      rateDate: found.rateDate,
      source: found.source,
    })
  }
  const newest = await findCurrentFxRate(db, 'live')
  const ageDays = newest ? (now.getTime() - Date.parse(newest.rateDate)) / 86_400_000 : Infinity
  if (ageDays > STALE_AFTER_DAYS) log.error('fx_rate_stale', { rateDate: newest?.rateDate })
}
