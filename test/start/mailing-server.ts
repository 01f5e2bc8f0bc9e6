/** The server in sandbox mode, except that it sends mails to a mail server (`SMTP_URL`) as in live mode. */
import { createApp } from '../../src/app/create-app.ts'
import { loadConfig } from '../../src/app/config/config.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { resolveMail } from '../../src/app/config/resolve-mail.ts'

const config = loadConfig(process.env, process.cwd())
const faults: string[] = []
const mail = resolveMail(process.env, faults)
if (!mail || config.databaseUrl === undefined) throw new Error(faults.join('\n'))
const log = createLog('info', (line) => process.stderr.write(line))
const sender = { ...mail.sender, isSandbox: true }
const app = await createApp({ ...config, mail: { ...mail, sender } }, config.databaseUrl, log)
process.once('SIGTERM', () => void app.close().then(() => process.exit(0)))
await app.listen()
