import { resetSandbox } from '../reset-sandbox.ts'
import { UsageError, type OfflineCommand } from './command.ts'

export const sandboxCommands: Record<string, OfflineCommand> = {
  reset: {
    usage: '--yes',
    about: 'remove the database and the files of a sandbox; the next start begins anew',
    async runOffline({ config, options }) {
      if (config.mode !== 'sandbox') throw new UsageError('reset: is for sandbox mode only')
      if (config.databaseUrl !== undefined)
        throw new UsageError(
          'reset: removes the embedded database only; DATABASE_URL names another one, which you can drop and create yourself',
        )
      if (options.yes !== true)
        throw new UsageError(
          `reset: removes the sandbox of ${config.dataDir} for ever. If that is meant: reset --yes`,
        )
      const outcome = await resetSandbox(config.dataDir)
      if (outcome.kind === 'in_use')
        throw new UsageError(`reset: a server uses ${outcome.folder}. Stop it first`)
      const { paths } = outcome
      return {
        data: { removed: paths },
        text: paths.length === 0 ? 'nothing to remove' : `removed:\n  ${paths.join('\n  ')}`,
      }
    },
  },
}
