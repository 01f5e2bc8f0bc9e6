import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openWorkDir } from './event-archive.ts'
import { sumAccounts, writeEventFile } from './event-file.ts'

const CUSTOMER = '01900000-0000-7000-8000-000000000001'

test('a folder is neither a pattern nor a column, whatever its name is', async () => {
  const work = await openWorkDir()
  try {
    for (const [folder, billed] of [
      ['customer_id=x[1]*', 7],
      ['customer_id=x1', 1],
      ['customer_id=x1?', 2],
    ] as const) {
      const dir = join(work.dir, folder)
      await mkdir(dir)
      const line = JSON.stringify({
        customer_id: CUSTOMER,
        cost_billed_nano_brl: billed,
        cost_upstream_pico_usd: 100,
      })
      const path = await writeEventFile(work.duckDb, work.dir, lines(line))
      await work.duckDb.run(`copy (from '${path}') to '${join(dir, 'events.parquet')}'`)
    }
    const [one, ...others] = await sumAccounts(
      work.duckDb,
      join(work.dir, 'customer_id=x[1]*', 'events.parquet'),
    )
    assert.deepEqual(others, [])
    assert.deepEqual(one, {
      customerId: CUSTOMER,
      events: '1',
      billedNanoBrl: '7',
      costPicoUsd: '100',
    })
  } finally {
    await work.close()
  }
})

async function* lines(line: string) {
  yield [{ line, session: null }]
}
