import { OPERATOR } from '../../platform/audit-log/audited.ts'
import { openArchiveStore } from '../config/resolve-archive.ts'
import { ArchiveFault, isMonth, listMonths } from '../../money/months/month.ts'
import { archiveMonth } from '../../money/months/archive-month.ts'
import { UsageError, type Command } from './command.ts'

const MIB = 1024 * 1024

export const monthCommands: Record<string, Command> = {
  'months list': {
    usage: '',
    about:
      'the months of usage events, with their size, and whether they are in the database or in files',
    runsInEitherMode: true,
    async run({ db }) {
      const months = await listMonths(db)
      return {
        data: months.map(({ month, events, bytes, isSealed, place, files }) => ({
          month,
          sealed_events: Number(events),
          bytes: Number(bytes),
          is_sealed: isSealed,
          place,
          files,
        })),
        text: {
          columns: ['month', 'sealed events', 'MB', 'sealed', 'place', 'files'],
          rows: months.map(({ month, events, bytes, isSealed, place, files }) => [
            month,
            String(events),
            (Number(bytes) / MIB).toFixed(1),
            isSealed ? 'yes' : 'no',
            place,
            String(files),
          ]),
        },
      }
    },
  },
  'months archive': {
    usage: '<YYYY-MM>',
    about:
      'move the usage events of the oldest month in the database to Parquet files (ARCHIVE_DIR or ARCHIVE_S3_URL), which are read back and proved first; see docs/operations.md',
    async run({ db, config, args }) {
      const [month = ''] = args
      if (!isMonth(month)) throw new UsageError('months archive: name a month, such as 2025-03')
      if (!config.archive) throw new UsageError('months archive: set ARCHIVE_DIR or ARCHIVE_S3_URL')
      const store = openArchiveStore(config.archive)
      try {
        const { files, events, bytes, removal } = await archiveMonth(db, month, {
          store,
          actor: OPERATOR,
        })
        const written = `${month}: ${events} events in ${files} files, ${(Number(bytes) / MIB).toFixed(1)} MB, read back and proved: ${store.place}`
        return {
          data: { month, files, events: Number(events), bytes: Number(bytes), rows: removal.kind },
          text:
            removal.kind === 'removed'
              ? written
              : `${written}\nIts rows are still in the database too, because of ${removal.for}. Run it again later; with ARCHIVE_AFTER_MONTHS a job does.`,
        }
      } catch (error) {
        if (!(error instanceof ArchiveFault)) throw error
        throw new UsageError(`months archive: ${error.message}`)
      }
    },
  },
}
