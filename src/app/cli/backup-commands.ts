import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { deliveryFolders } from '../open-node-ledger.ts'
import { backupEmbedded } from '../../platform/db/backup-embedded.ts'
import { BackupFault, readManifest } from '../../platform/db/backup-manifest.ts'
import { findClusters } from '../../platform/db/embedded-cluster-dir.ts'
import { restoreEmbedded } from '../../platform/db/restore-embedded.ts'
import { findLostDeliveries } from '../../money/ledger/deliveries/find-lost-deliveries.ts'
import { decimalBrl } from '../../platform/lib/money.ts'
import { optionText, UsageError, type Command, type OfflineCommand } from './command.ts'

const OWN_DATABASE =
  'DATABASE_URL names a PostgreSQL of its own: use pg_basebackup and its WAL, as docs/operations.md says'

export const backupCommands: Record<string, Command | OfflineCommand> = {
  backup: {
    usage: '<new folder>',
    about: 'copy the embedded database into a folder while it runs, and check the copy',
    async run({ config, databaseUrl, args }) {
      if (config.databaseUrl !== undefined) throw new UsageError(`backup: ${OWN_DATABASE}`)
      const to = folderOf('backup', args)
      const home = findClusters(config.dataDir).find((folder) =>
        existsSync(join(folder, 'cluster')),
      )
      if (home === undefined) throw new UsageError(`backup: ${config.dataDir} has no database`)
      const manifest = await orUsageError('backup', () => backupEmbedded(databaseUrl, home, to))
      const { files, startedAt, endedAt } = manifest
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
      return {
        data: { folder: to, started_at: startedAt, ended_at: endedAt, files: files.length, bytes },
        text: `${to}: ${files.length} files, ${Math.ceil(bytes / 1024 / 1024)} MB, written and read again.\nA restore ends at ${endedAt}. Keep SECRETS_KEY elsewhere: secrets in the database are sealed with it.`,
      }
    },
  },
  restore: {
    usage: '<backup folder> [--wal FOLDER] [--until TIME]',
    about:
      'make the embedded database of a new DATA_DIR from a backup; with archived WAL to a moment after it',
    async runOffline({ config, args, options }) {
      if (config.databaseUrl !== undefined) throw new UsageError(`restore: ${OWN_DATABASE}`)
      const from = folderOf('restore', args)
      const walFolder = optionText(options, 'wal')
      const until = optionTime(optionText(options, 'until'), '--until')
      if (until && walFolder === undefined)
        throw new UsageError('--until: needs --wal, the folder with the archived WAL')
      const { manifest, folder } = await orUsageError('restore', async () => {
        const { endedAt } = await readManifest(from)
        if (until && until.getTime() < Date.parse(endedAt))
          throw new BackupFault(`--until: this backup ended at ${endedAt}; take an older one`)
        return restoreEmbedded(
          from,
          config.dataDir,
          walFolder === undefined ? undefined : { walFolder: resolve(walFolder), until },
        )
      })
      const end = until?.toISOString() ?? (walFolder === undefined ? manifest.endedAt : null)
      return {
        data: { folder, restored_until: end },
        text: `${folder}: restored ${end === null ? 'to the end of the WAL' : `until ${end}`}. The next start recovers it. It does not archive its WAL.\nThen run \`audit\`, and \`restore-check\` with the data folders of the nodes before.`,
      }
    },
  },
  'restore-check': {
    usage: '[data folder of a node, with commas between several] [--since TIME]',
    about:
      'answers that nodes delivered and whose charges this database does not have, by the notes on their disks; exit code 1 if there are some',
    runsInEitherMode: true,
    async run({ db, config, args, options }) {
      const since = optionTime(optionText(options, 'since'), '--since')
      const dataDirs = (args[0] ?? config.dataDir).split(',').map((dir) => resolve(dir.trim()))
      const missing = dataDirs.find((dir) => !existsSync(join(dir, 'delivered')))
      if (missing !== undefined)
        throw new UsageError(`restore-check: ${missing} is no data folder of a node`)
      const dirs = dataDirs.flatMap((dir) => Object.values(deliveryFolders(dir)))
      const { compared, unreadable, lost } = await findLostDeliveries(db, dirs, since)
      const sum = lost.reduce((total, { deliveredNanoBrl }) => total + deliveredNanoBrl, 0n)
      const rows = lost.map(
        ({ holdId, nodeId, heldAt, deliveredNanoBrl, storedNanoBrl, state }) => ({
          hold_id: holdId,
          node_id: nodeId,
          held_at: heldAt.toISOString(),
          state,
          delivered_brl: decimalBrl(deliveredNanoBrl),
          stored_brl: storedNanoBrl === null ? null : decimalBrl(storedNanoBrl),
        }),
      )
      return {
        data: { compared, unreadable, lost_brl: decimalBrl(sum), lost: rows },
        text:
          rows.length === 0
            ? `${compared} delivered answers: each has its charge`
            : {
                columns: ['hold', 'held at', 'state', 'delivered BRL', 'stored BRL'],
                rows: rows.map((row) => [
                  row.hold_id,
                  row.held_at,
                  row.state,
                  row.delivered_brl,
                  row.stored_brl ?? '',
                ]),
              },
        exitCode: rows.length === 0 ? 0 : 1,
      }
    },
  },
}

function folderOf(command: string, [folder]: readonly string[]): string {
  if (folder === undefined) throw new UsageError(`${command}: name a folder`)
  return resolve(folder)
}

function optionTime(text: string | undefined, name: string): Date | undefined {
  if (text === undefined) return undefined
  const time = new Date(text)
  // Without a zone it would be that of this machine.
  if (Number.isNaN(time.getTime()) || !/(Z|[+-]\d\d:\d\d)$/.test(text))
    throw new UsageError(`${name}: must be a time with its zone, such as 2026-11-24T12:00:00Z`)
  return time
}

async function orUsageError<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof BackupFault)) throw error
    throw new UsageError(`${name}: ${error.message}`)
  }
}
