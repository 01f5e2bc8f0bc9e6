/** `node start-database.ts <data folder>`: a database that its parent kills. */
import { startEmbedded } from '../../src/db/embedded.ts'

const [, , dataDir = ''] = process.argv
const database = await startEmbedded({ dataDir, log: () => {} })
const { databaseUrl, folder } = database
process.stdout.write(`${JSON.stringify({ databaseUrl, folder })}\n`)
setInterval(() => {}, 60_000)
