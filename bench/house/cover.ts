/**
 * Imported into a server by `bench/house/run.ts`: at each SIGUSR2 it appends a line to `COVERED_FILE`, the URLs of the
 * files with a function that ran since the one before.
 */
import { appendFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'

const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true })
process.on('SIGUSR2', async () => {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const ran = result.filter(
    ({ url, functions }) =>
      url.startsWith('file:') && functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0),
  )
  appendFileSync(process.env.COVERED_FILE ?? '', `${JSON.stringify(ran.map(({ url }) => url))}\n`)
})
