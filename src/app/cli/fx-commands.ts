import { OPERATOR } from '../../platform/audit-log/audited.ts'
import { findCurrentFxRate, type FxRate, JUMP_PERCENT_MAX } from '../../money/fx/fx-rates.ts'
import { setFxRate, withdrawFxRate } from '../../money/fx/set-fx-rate.ts'
import { decimalE4, jsonE4, parseE4 } from '../../platform/lib/money.ts'
import {
  optionText,
  requiredText,
  UsageError,
  type Command,
  type CommandInput,
  type CommandResult,
} from './command.ts'

export const fxCommands: Record<string, Command> = {
  'fx show': {
    usage: '',
    about: 'the current exchange rate',
    async run({ db, config }) {
      const rate = await findCurrentFxRate(db, config.mode)
      if (!rate) return { data: null, text: 'no rate is stored', exitCode: 1 }
      return { data: fxBody(rate), text: fxText(rate) }
    },
  },
  'fx set': {
    usage: '<rate> --note WHY [--date YYYY-MM-DD] [--confirm]',
    about: `store a rate by hand; the next PTAX of a later day replaces it. --confirm: also if it is more than ${JUMP_PERCENT_MAX} % from the rate in force`,
    async run(input) {
      const { db, config, args, options } = input
      const rateE4 = parseE4(args[0] ?? '')
      if (rateE4 === undefined || rateE4 <= 0n || rateE4 >= 1_000_000n)
        throw new UsageError('the rate must be a number such as 5.2238, below 100')
      const rateDate = optionText(options, 'date')
      if (rateDate !== undefined && !isDay(rateDate))
        throw new UsageError('--date: must be a day, as YYYY-MM-DD')
      const set = await setFxRate(db, OPERATOR, {
        mode: config.mode,
        rateE4,
        rateDate,
        note: readNote(input),
        isConfirmed: options.confirm === true,
      })
      switch (set.kind) {
        case 'date_in_future':
          throw new UsageError(`--date: ${rateDate} is after today in Brasília (${set.today})`)
        case 'not_confirmed':
          throw new UsageError(
            set.inForce
              ? `${decimalE4(rateE4)} is more than ${JUMP_PERCENT_MAX} % from the rate in force, ${fxText(set.inForce)}: if it is right, add --confirm`
              : `${decimalE4(rateE4)} is not a usual rate: if it is right, add --confirm`,
          )
        case 'stored':
          return outcomeOf('stored', set.stored, set.inForce)
      }
    },
  },
  'fx withdraw': {
    usage: '<id> --note WHY',
    about: 'take back a rate that was set by hand; the rate before it is in force again',
    async run(input) {
      const { db, config, args } = input
      const id = Number(args[0])
      if (!/^\d{1,9}$/.test(args[0] ?? '')) throw new UsageError('the id must be a number')
      const taken = await withdrawFxRate(db, OPERATOR, {
        mode: config.mode,
        id,
        note: readNote(input),
      })
      switch (taken.kind) {
        case 'not_found':
          throw new UsageError(`no rate that was set by hand has the id ${id}`)
        case 'only_rate':
          throw new UsageError('it is the only rate: set the right one first')
        case 'withdrawn':
          return outcomeOf('withdrawn', taken.withdrawn, taken.inForce)
      }
    },
  },
}

function readNote({ config, options }: CommandInput): string | undefined {
  return config.mode === 'live' ? requiredText(options, 'note') : optionText(options, 'note')
}

/** Names the changed rate and the one in force, because an older date changes nothing. */
function outcomeOf(what: 'stored' | 'withdrawn', rate: FxRate, inForce: FxRate): CommandResult {
  const isInForce = rate.id === inForce.id
  return {
    data: { ...fxBody(rate), is_in_force: isInForce, in_force: fxBody(inForce) },
    text: isInForce
      ? `${what}, in force: ${fxText(rate)}`
      : `${what}${what === 'stored' ? ', but not in force' : ''}: ${fxText(rate)}\nin force: ${fxText(inForce)}`,
  }
}

/** An existing day: `Date.parse` takes 31 February for 3 March. */
function isDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

function fxBody(rate: FxRate): Record<string, unknown> {
  return {
    id: rate.id,
    rate: jsonE4(rate.rateE4),
    date: rate.rateDate,
    source: rate.source,
    bulletin_at: rate.bulletinAt,
  }
}

function fxText(rate: FxRate): string {
  return `1 USD = ${decimalE4(rate.rateE4)} BRL  (${rate.source}, ${rate.rateDate}, id ${rate.id})`
}
