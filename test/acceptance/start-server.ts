/** Starts the server as a user does: `npm start` with a new data folder, and what it prints. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

const ROOT = join(import.meta.dirname, '../..')
const START_MS_MAX = 60_000
export const OPERATOR_TOKEN = 'aceitacao'

export interface Server {
  /** With `/v1`. */
  readonly base: string
  /** The printed key; its customer is an administrator here. */
  readonly key: string
  /** The output of `npm run catraca -- … --json`. */
  // oxlint-disable-next-line typescript/no-explicit-any
  command(...args: string[]): Promise<any>
  stop(): Promise<void>
}

export async function startServer(): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), 'catraca-acceptance-'))
  await chmod(folder, 0o755)
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '' } = process.env
  const env = {
    PATH,
    HOME,
    NODE_COMPILE_CACHE,
    DATA_DIR: join(folder, 'data'),
    PORT: String(await findPort()),
    ADMIN_EMAILS: 'demo@example.com',
    // The receiver of the checks listens on this machine.
    WEBHOOKS_ALLOW_PRIVATE: 'true',
    // There is no second operator who would approve.
    ADMIN_APPROVAL_ABOVE_BRL: '1000000',
    TRUST_PROXY: '127.0.0.1',
    // Behind a proxy, the mailbox of the sandbox is shown for this token only.
    METRICS_TOKEN: OPERATOR_TOKEN,
  }
  const child = spawn('npm', ['start', '--silent'], { cwd: ROOT, env, detached: true })
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => (printed += String(text)))
  const exited = once(child, 'exit')
  const stop = async (): Promise<void> => {
    // npm and the server: a signal to the group, as from a terminal.
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGINT')
    await exited
    await rm(folder, { recursive: true, force: true })
  }
  const found = (what: RegExp): string | undefined => what.exec(printed)?.[1]
  for (
    const end = Date.now() + START_MS_MAX;
    found(/^ {2}key +(\S+)\n[\s\S]*mailbox/m) === undefined;
  ) {
    if (child.exitCode !== null || Date.now() > end) {
      await stop()
      throw new Error(`the server did not come up:\n${printed}`)
    }
    await sleep(50)
  }
  return {
    base: found(/^ {2}address +(\S+)$/m) ?? '',
    key: found(/^ {2}key +(\S+)$/m) ?? '',
    async command(...args) {
      const run = ['run', '--silent', 'catraca', '--', ...args, '--json']
      const { stdout } = await promisify(execFile)('npm', run, { cwd: ROOT, env })
      return JSON.parse(stdout)
    },
    stop,
  }
}

async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
