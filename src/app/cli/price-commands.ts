import { readFile } from 'node:fs/promises'
import { OPERATOR } from '../../platform/audit-log/audited.ts'
import type { PricesConfig } from '../../money/catalog/catalog-config-schema.ts'
import type { ConfiguredModel } from '../../money/catalog/model.ts'
import { listPriceChanges, setPrices, withdrawPrices } from '../../money/catalog/price-changes.ts'
import type { NewPrices, PriceEffect } from '../../money/catalog/price-changes.ts'
import { findPriceDifferences } from '../../money/catalog/price-data-differences.ts'
import type { PriceData } from '../../money/catalog/price-from-data.ts'
import {
  approvePrice,
  listPendingPrices,
  rejectPrice,
  type Answered,
} from '../../money/catalog/price-updates.ts'
import { nextPriceChange, priceAt } from '../../money/catalog/price-schedule.ts'
import { readPriceFile } from '../../money/catalog/read-price-file.ts'
import { readPrices } from '../../money/catalog/read-prices.ts'
import {
  hasUnitsOf,
  scheduleOf,
  withPriceChanges,
  type PriceChange,
} from '../../money/catalog/with-price-changes.ts'
import type { Config } from '../config/config.ts'
import { readPriceData } from '../read-price-data.ts'
import type { Database } from '../../platform/db/open.ts'
import { decimalUsd } from '../../platform/lib/money.ts'
import {
  optionText,
  requiredText,
  UsageError,
  type Command,
  type CommandInput,
  type CommandResult,
} from './command.ts'

/** Pico-USD per token is micro-USD per million tokens. */
const TOKENS = 1_000_000n

export const priceCommands: Record<string, Command> = {
  'prices show': {
    usage: '[<model>]',
    about: 'the prices in force in USD per million tokens, and the changes that were set',
    async run({ db, config, args }) {
      const changes = await listPriceChanges(db)
      const now = Date.now()
      const models = config.models
        .filter(({ id }) => args[0] === undefined || id === args[0])
        .map((model) => withPriceChanges<ConfiguredModel['price']>(model, changes))
      if (models.length === 0) throw new UsageError(`there is no model ${args[0]}`)
      const bodies = models.map((model) => priceBody(model, changes, now))
      return {
        data: bodies,
        text: {
          columns: ['model', 'input', 'cached input', 'output', 'other', 'set by', 'next change'],
          rows: bodies.map((body) => [
            body.model,
            body.input_usd,
            body.cached_input_usd,
            body.output_usd,
            body.other,
            body.changes
              .map((each) => `id ${each.id}${each.is_applied ? '' : ' (not applied: other units)'}`)
              .join(', '),
            body.next_change_at ?? '',
          ]),
        },
      }
    },
  },
  'prices check': {
    usage: '[--file FILE]',
    about:
      'compare the prices in force with the price data of the package, of PRICE_DATA_FILE, or of this file; exit code 1 if they differ',
    async run({ db, config, options }) {
      const data = await readData(db, config, optionText(options, 'file'))
      const found = findPriceDifferences(await readModels(db, config), data, new Date())
      return {
        data: found.map(({ modelId, text }) => ({ model: modelId, difference: text })),
        text:
          found.length === 0
            ? 'all prices are those of the price data'
            : found.map(({ modelId, text }) => `${modelId}: ${text}`).join('\n'),
        exitCode: found.length === 0 ? 0 : 1,
      }
    },
  },
  'prices set': {
    usage:
      '[<model>] [--input USD] [--cached-input USD] [--cache-write USD] [--output USD] [--reasoning USD] [--file FILE] --note WHY [--starts-at TIME] [--dry-run] [--confirm]',
    about:
      'change prices without a restart, now or from a time on: of one model, in USD per million tokens; of the models in a file; or with a file of newer price data, of all models that differ from it. --confirm: also amounts more than twice or less than half of those in force',
    run: setByCommand,
  },
  'prices pending': {
    usage: '',
    about: 'new models and prices of the price data that wait for an answer',
    async run({ db }) {
      const pending = await listPendingPrices(db)
      return {
        data: pending.map(({ modelId, kind, difference, foundAt }) => ({
          model: modelId,
          kind,
          difference,
          found_at: foundAt,
        })),
        text: {
          columns: ['model', 'kind', 'found', 'difference'],
          rows: pending.map(({ modelId, kind, difference, foundAt }) => [
            modelId,
            kind,
            foundAt.toISOString(),
            difference,
          ]),
        },
      }
    },
  },
  'prices approve': {
    usage: '<model>',
    about:
      'take the price that waits, or bring the new model into the catalog; a dearer price begins after the notice to customers',
    async run({ db, config, args }) {
      const { models, markupNoticeDays: noticeDays } = config
      const [modelId = ''] = args
      const answer = { modelId, difference: undefined }
      const answered = await approvePrice(db, OPERATOR, answer, { models, noticeDays })
      return answerText(modelId, answered, 'approved')
    },
  },
  'prices reject': {
    usage: '<model>',
    about:
      'keep the price in force, or the new model out, until the price data says something else',
    async run({ db, args }) {
      const [modelId = ''] = args
      const answered = await rejectPrice(db, OPERATOR, { modelId, difference: undefined })
      return answerText(modelId, answered, 'rejected')
    },
  },
  'prices withdraw': {
    usage: '<id> --note WHY',
    about: 'take a change of prices back; the prices before it are in force again',
    async run(input) {
      const [text = ''] = input.args
      if (!/^\d{1,9}$/.test(text)) throw new UsageError('the id must be a number')
      const note = readNote(input)
      const taken = await withdrawPrices(input.db, OPERATOR, { id: Number(text), note })
      if (taken.kind === 'not_found') throw new UsageError(`no change in use has the id ${text}`)
      const { id, modelId, startsAt } = taken.change
      return {
        data: { id, model: modelId, starts_at: startsAt },
        text: `withdrawn: ${modelId}, from ${startsAt.toISOString()}, id ${id}`,
      }
    },
  },
}

function answerText(modelId: string, answered: Answered, word: string): CommandResult {
  if (answered.kind === 'price_update_not_found')
    throw new UsageError(`nothing of ${modelId} waits for an answer`)
  if (answered.kind !== 'answered')
    throw new UsageError(`${modelId}: no price that can be taken waits, only to be rejected`)
  const { startsAt } = answered
  return {
    data: { model: modelId, starts_at: startsAt ?? null },
    text: `${word}: ${modelId}${startsAt ? `, from ${startsAt.toISOString()}` : ''}`,
  }
}

async function setByCommand(input: CommandInput): Promise<CommandResult> {
  const { db, config, options } = input
  const isDryRun = options['dry-run'] === true
  const set = await setPrices(db, OPERATOR, {
    models: config.models,
    prices: await readNewPrices(input),
    startsAt: readTime(optionText(options, 'starts-at')),
    note: readNote(input),
    isConfirmed: options.confirm === true,
    isDryRun,
  })
  switch (set.kind) {
    case 'starts_in_the_past':
      throw new UsageError('--starts-at: is in the past. Charges keep their prices')
    case 'starts_too_late':
      throw new UsageError(`--starts-at: is after ${set.latest.toISOString()}`)
    case 'unknown_model':
      throw new UsageError(`there is no model ${set.modelId}`)
    case 'other_units':
      throw new UsageError(`${set.modelId}: its prices must be of the same units (${set.units})`)
    case 'nothing_changes':
      return { data: [], text: 'these prices are in force already' }
    case 'not_confirmed':
      throw new UsageError(
        `${linesOf(set.effects)}\nan amount is more than twice or less than half of the one in force: if it is right, add --confirm`,
      )
    case 'would_set':
    case 'set':
      return {
        data: set.effects.map(({ id, modelId, startsAt, text }) => ({
          id: id ?? null,
          model: modelId,
          starts_at: startsAt,
          amounts: text,
        })),
        text: `${isDryRun ? 'nothing is stored; it would set' : 'set'}:\n${linesOf(set.effects)}`,
      }
  }
}

function linesOf(effects: readonly PriceEffect[]): string {
  return effects
    .map(
      ({ id, modelId, startsAt, text }) =>
        `${modelId}: ${text}, from ${startsAt.toISOString()}${id === undefined ? '' : `, id ${id}`}`,
    )
    .join('\n')
}

async function readNewPrices(input: CommandInput): Promise<readonly NewPrices[]> {
  const { db, config, args, options } = input
  const [modelId] = args
  const path = optionText(options, 'file')
  if (path === undefined) return [readFlags(input)]
  const file = readPriceFile(await readText(path), config.models)
  const only = <Of extends { readonly modelId: string }>(prices: readonly Of[]): readonly Of[] => {
    const own = prices.filter((each) => modelId === undefined || each.modelId === modelId)
    if (own.length === 0 && modelId !== undefined)
      throw new UsageError(`${path} changes nothing of ${modelId}`)
    return own
  }
  switch (file.kind) {
    case 'faulty':
      throw new UsageError(file.faults.map((fault) => `${path}: ${fault}`).join('\n'))
    case 'prices':
      return only(file.prices)
    case 'price_data': {
      const models = await readModels(db, config)
      const found = only(findPriceDifferences(models, file.data, new Date()))
      return found.flatMap(({ modelId: id, schedule, text }) => {
        if (schedule) return [{ modelId: id, schedule }]
        if (modelId === undefined) return []
        throw new UsageError(`${path}: ${text}`)
      })
    }
  }
}

function readFlags({ config, args, options }: CommandInput): NewPrices {
  const [modelId] = args
  const amount = (name: string): string | undefined => optionText(options, name)
  const prices: PricesConfig = {}
  const given = {
    input: amount('input'),
    cached_input: amount('cached-input'),
    cache_write: amount('cache-write'),
    output: amount('output'),
    reasoning: amount('reasoning'),
  }
  for (const [name, usd] of Object.entries(given)) {
    if (usd === undefined) continue
    if (!/^\d{1,6}(\.\d{1,6})?$/.test(usd))
      throw new UsageError(
        `--${name.replace('_', '-')}: must be USD per million tokens, such as 0.15`,
      )
    prices[name as keyof typeof given] = usd
  }
  if (modelId === undefined || Object.keys(prices).length === 0)
    throw new UsageError('it needs a model and its prices (--input, --output), or --file')
  const model = config.models.find(({ id }) => id === modelId)
  if (!model) throw new UsageError(`there is no model ${modelId}`)
  const faults: string[] = []
  const price = readPrices(modelId, model.category, prices, faults)
  if (faults.length > 0) throw new UsageError(faults.join('\n'))
  return { modelId, schedule: [{ price }] }
}

async function readData(
  db: Database,
  config: Config,
  path: string | undefined,
): Promise<PriceData> {
  try {
    return await readPriceData(db, path === undefined ? config : { ...config, priceDataFile: path })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** The models with the prices in force. */
async function readModels(db: Database, { models }: Config): Promise<ConfiguredModel[]> {
  const changes = await listPriceChanges(db)
  return models.map((model) => withPriceChanges<ConfiguredModel['price']>(model, changes))
}

function priceBody(model: ConfiguredModel, changes: readonly PriceChange[], nowMs: number) {
  const price = priceAt(scheduleOf(model), nowMs)
  const [tier, ...tiers] = price.tiers
  const usd = (micro: bigint | undefined): string => decimalUsd((micro ?? 0n) * TOKENS)
  const next = nextPriceChange(scheduleOf(model), nowMs)
  const units = Object.entries(price.units ?? {}).map(
    ([unit, each]) => `${unit} ${decimalUsd(each)}`,
  )
  const above = tiers.map(
    (each) => `above ${each.abovePromptTokens}: ${usd(each.input)} ${usd(each.output)}`,
  )
  return {
    model: model.id,
    input_usd: usd(tier?.input),
    cached_input_usd: usd(tier?.cachedInput),
    output_usd: usd(tier?.output),
    other: [...above, ...units].join(', '),
    changes: changes
      .filter(({ modelId }) => modelId === model.id)
      .map((change) => ({
        id: change.id,
        starts_at: change.startsAt,
        note: change.note,
        is_applied: hasUnitsOf(change, model),
      })),
    next_change_at: next === Infinity ? null : new Date(next).toISOString(),
  }
}

function readTime(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const at = new Date(text)
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?Z$/.test(text) || Number.isNaN(at.getTime()))
    throw new UsageError('--starts-at: must be a time in UTC, such as 2027-01-01T00:00Z')
  return at
}

function readNote({ config, options }: CommandInput): string | undefined {
  return config.mode === 'live' ? requiredText(options, 'note') : optionText(options, 'note')
}
