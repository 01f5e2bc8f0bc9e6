/** `node start-database.ts <data folder>`: a database that its parent kills, or stops with SIGTERM. */
import { startEmbedded } from '../../src/platform/db/embedded.ts'

const [, , dataDir = ''] = process.argv
const database = await startEmbedded({ dataDir, log: () => {} })
const { databaseUrl, folder } = database
process.once('SIGTERM', () => void database.stop().then(() => process.exit(0)))
process.stdout.write(`${JSON.stringify({ databaseUrl, folder })}\n`)
setInterval(() => {}, 60_000)
