import { OPERATOR } from '../../platform/audit-log/audited.ts'
import { findCell, nameCell } from '../../customers/cell.ts'
import { UsageError, type Command } from './command.ts'

export const cellCommands: Record<string, Command> = {
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
}
