/**
 * Bifrost's gateway, where `go install` of its released module works: once as a relay, once with its governance (a
 * virtual key with a budget, and the log of requests). Its configuration, peers/bifrost.jsonc, is written from its
 * documentation.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from '../../test/harness/find-free-port.ts'
import { findProgram } from '../find-program.ts'
import type { StartPeer } from '../peers/peer.ts'

const version = '1.5.7'
const module = `github.com/maximhq/bifrost/transports/bifrost-http@v${version}`
const template = join(import.meta.dirname, '../peers/bifrost.jsonc')
const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'catraca-bench')
const installFolder = join(cache, `bifrost-${version}`)
const INSTALL_MS_MAX = 600_000

export const startBifrost: StartPeer = (surroundings) => start('bifrost', false, surroundings)
export const startBifrostGoverned: StartPeer = (surroundings) =>
  start('bifrost-governed', true, surroundings)

const start = async (
  name: string,
  isGoverned: boolean,
  { processes, upstreamPort, folder }: Parameters<StartPeer>[0],
): ReturnType<StartPeer> => {
  const program = join(installFolder, 'bifrost-http')
  if (!existsSync(program)) {
    const go = findProgram('go')
    if (go === undefined) return { kind: 'unavailable', reason: 'go is not installed' }
    const env = { GOBIN: installFolder }
    const installing = { name: 'go', command: go, args: ['install', module], env }
    const { code, stderr } = await processes.run(installing, INSTALL_MS_MAX)
    const fault = stderr.trim().split('\n').at(-1)?.replace('server response:', '').trim()
    if (code !== 0) return { kind: 'unavailable', reason: `go install v${version}: ${fault}` }
  }
  const home = join(folder, name)
  mkdirSync(home)
  const config = readFileSync(template, 'utf8')
    .replaceAll(/^ *\/\/.*$/gm, '')
    .replaceAll('"GOVERNED"', String(isGoverned))
    .replace('UPSTREAM', `http://127.0.0.1:${upstreamPort}`)
  writeFileSync(join(home, 'config.json'), config)
  const port = await findFreePort()
  const { pid } = await processes.start({
    name,
    command: program,
    args: ['-app-dir', home, '-host', '127.0.0.1', '-port', String(port), '-log-level', 'error'],
    cwd: home,
    readyUrl: `http://127.0.0.1:${port}/health`,
  })
  const keyed = (key: string) => ({ authorization: `Bearer ${key}` })
  return {
    name,
    version,
    port,
    // Its route for OpenAI's clients: models are named as there.
    path: '/openai/v1/chat/completions',
    headers: keyed(isGoverned ? 'sk-bf-bench' : 'sk-bench'),
    pid,
    ...(isGoverned ? { wrongKey: keyed('sk-bf-wrong') } : {}),
  }
}
