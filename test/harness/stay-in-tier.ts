/**
 * Imported before each test file: only a file of the tier `processes` starts a process, one of the tier `unit` opens no
 * socket, and those below `database` do not receive the address of the run's database.
 */
import childProcess from 'node:child_process'
import dgram from 'node:dgram'
import { readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import type { Tier } from './tiers.ts'

/** `test/run.ts` writes this file: the tier by the path that each test process begins with. */
const tiers = JSON.parse(readFileSync(process.env.TEST_TIERS_FILE ?? '', 'utf8')) as Record<
  string,
  Tier
>
/** Undefined for the processes that a test starts. */
const tier = tiers[process.argv[1] ?? '']
if (tier === 'unit' || tier === 'sockets') delete process.env.TEST_DATABASE_URL
if (tier === 'unit') {
  refuse(net.Server.prototype, ['listen'], 'opens no socket')
  refuse(net.Socket.prototype, ['connect'], 'opens no socket')
  refuse(dgram.Socket.prototype, ['bind', 'connect', 'send'], 'opens no socket')
}
if (tier !== undefined && tier !== 'processes') {
  const names = ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork']
  refuse(childProcess, names, 'starts no process')
  syncBuiltinESMExports()
}

function refuse(target: object, methods: readonly string[], rule: string): void {
  for (const method of methods)
    Object.assign(target, {
      [method]: () => {
        throw new Error(
          `a test of the tier "${tier}" ${rule}: test/harness/tiers.ts says what makes a tier`,
        )
      },
    })
}
