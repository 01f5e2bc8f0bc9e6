import { OPERATOR } from '../../platform/audit-log/audited.ts'
import { findCell, nameCell } from '../../customers/cell.ts'
import { rotateSecrets } from '../rotate-secrets.ts'
import { countSealed } from '../../platform/db/reseal.ts'
import { UsageError, type Command } from './command.ts'

/** The commands on the whole of a database: its name among others, and the key of its secrets. */
export const databaseCommands: Record<string, Command> = {
  'cell show': {
    usage: '',
    about: 'the name of this database as a cell (docs/cells.md)',
    async run({ db }) {
      const cell = await findCell(db)
      return { data: { cell: cell ?? null }, text: cell ?? 'this database has no name' }
    },
  },
  'cell name': {
    usage: '<name>',
    about:
      'name this database, for ever: keys that are made from now on begin with `sk-svc-<name>_`, by which a balancer routes',
    async run({ db, args: [name = ''] }) {
      const named = await nameCell(db, OPERATOR, name)
      switch (named.kind) {
        case 'invalid':
          throw new UsageError('the name must have 1 to 8 letters (a to z) or digits')
        case 'not_installed':
          throw new UsageError('no server has started on this database yet')
        case 'has_other_name':
          throw new UsageError(`this database is ${named.cell} for ever: keys name it`)
        case 'named':
          return { data: { cell: named.cell }, text: named.cell }
      }
    },
  },
  'secrets rotate': {
    usage: '',
    about:
      'seal anew, with SECRETS_KEY, what SECRETS_KEY_PREVIOUS sealed; beside running servers, as often as you like',
    async run({ db, config: { secretsKey: current, secretsKeyPrevious: previous } }) {
      if (!current || !previous)
        throw new UsageError('SECRETS_KEY and SECRETS_KEY_PREVIOUS are needed: the new and the old')
      const { resealed, damaged } = await rotateSecrets(db, OPERATOR, { current, previous })
      const left = await countSealed(db, { current, previous })
      const lost = left.unknown > 0 ? [`${left.unknown} cannot be opened with either key`] : []
      const text = [
        `${resealed} sealed anew`,
        left.previous === 0
          ? 'SECRETS_KEY_PREVIOUS seals nothing any more'
          : `${left.previous} are still sealed with SECRETS_KEY_PREVIOUS`,
        ...lost,
        ...damaged.map((row) => `damaged: ${row}`),
      ]
      return {
        data: { resealed, damaged, sealed: left },
        text: text.join('\n'),
        exitCode: left.previous + left.unknown === 0 ? 0 : 1,
      }
    },
  },
}
