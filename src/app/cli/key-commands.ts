import { OPERATOR } from '../../platform/audit-log/audited.ts'
import {
  findApiKeyDetails,
  listApiKeyDetails,
  type ApiKeyDetails,
} from '../../customers/api-key-details.ts'
import { createIpMatcher } from '../../customers/ip-allowlist.ts'
import {
  createKey,
  pauseKeyByOperator,
  resumeKeyByOperator,
  revokeKey,
} from '../../customers/key-acts.ts'
import { readKeyName } from '../../customers/key-secret.ts'
import type { KeyScope } from '../../customers/key-scopes.ts'
import type { Config } from '../config/config.ts'
import type { BudgetPeriod } from '../../platform/db/tables.ts'
import { decimalUsd, jsonUsd, parseUsd } from '../../platform/lib/money.ts'
import {
  optionList,
  optionText,
  optionWhole,
  requiredText,
  UsageError,
  type Command,
  type CommandOptions,
} from './command.ts'
import { theCustomer } from './customer-commands.ts'

/** The specification's default. */
const REQUESTS_PER_MINUTE = 120

export const keyCommands: Record<string, Command> = {
  'key create': {
    usage:
      '<customer> --name NAME [--scope calls|account] [--models a,b|"*"] [--ip-allowlist 10.0.0.0/8,…] [--requests-per-minute N] [--tokens-per-minute N] [--budget-usd N --budget-period day|month|lifetime] [--expires-at ISO]',
    about: 'create a key; its secret is shown only now',
    async run(input) {
      const customer = await theCustomer(input)
      const { options } = input
      const name = readKeyName(requiredText(options, 'name'))
      if (name === undefined) throw new UsageError('--name: must be 3-50 chars')
      const made = await createKey(input.db, OPERATOR, {
        customerId: customer.id,
        name,
        scope: scopeOf(options),
        modelIds: knownModels(input.config, optionList(options, 'models')),
        ipAllowlist: addresses(optionList(options, 'ip-allowlist')),
        requestsPerMinute: optionWhole(options, 'requests-per-minute') ?? REQUESTS_PER_MINUTE,
        tokensPerMinute: optionWhole(options, 'tokens-per-minute'),
        budget: budgetOf(options),
        expiresAt: dateOf(options),
      })
      if (made.kind !== 'created') throw new UsageError(`the key was refused: ${made.kind}`)
      const { secret } = made
      const key = (await findApiKeyDetails(input.db, customer.id, made.key.id)) as ApiKeyDetails
      return {
        data: { ...keyBody(key), secret },
        text: `created ${key.id}  ${key.name}\n\n  ${secret}\n\nThis is the only time it is shown.`,
      }
    },
  },
  'key list': {
    usage: '[customer]',
    about: 'keys of a customer, or of all',
    async run(input) {
      const customer = input.args.length > 0 ? await theCustomer(input) : undefined
      const keys = await listApiKeyDetails(input.db, { customerId: customer?.id }, null)
      return {
        data: keys.map(keyBody),
        text: {
          columns: [
            'id',
            'name',
            'key',
            'state',
            'scope',
            'requests/min',
            'models',
            'addresses',
            'budget USD',
          ],
          rows: keys.map((key) => [
            key.id,
            key.name,
            `sk-svc-…${key.lastFour}`,
            key.status,
            key.scope,
            String(key.requestsPerMinute),
            key.modelIds?.join(',') ?? 'all',
            key.ipAllowlist?.join(',') ?? 'any',
            key.budget
              ? `${decimalUsd(key.budget.spentPicoUsd)}/${decimalUsd(key.budget.limitPicoUsd)} ${key.budget.period}`
              : 'none',
          ]),
        },
      }
    },
  },
  'key pause': {
    usage: '<key id>',
    about: 'pause a key until an operator resumes it, on every node at once; running calls end',
    async run({ db, args }) {
      const keyId = keyIdOf(args)
      const outcome = await pauseKeyByOperator(db, OPERATOR, { keyId })
      if (outcome === 'key_not_found') throw new UsageError(`no key ${keyId}`)
      return {
        data: { outcome },
        text: outcome === 'paused' ? 'paused' : 'it was already paused by an operator, or revoked',
      }
    },
  },
  'key resume': {
    usage: '<key id>',
    about: "lift an operator's pause of a key; a pause of its owner remains",
    async run({ db, args }) {
      const keyId = keyIdOf(args)
      const outcome = await resumeKeyByOperator(db, OPERATOR, { keyId })
      if (outcome === 'key_not_found') throw new UsageError(`no key ${keyId}`)
      return { data: { outcome }, text: RESUMED[outcome] }
    },
  },
  'key revoke': {
    usage: '<key id>',
    about: 'revoke a key permanently, on every node at once',
    async run({ db, args }) {
      const keyId = keyIdOf(args)
      const outcome = await revokeKey(db, OPERATOR, { keyId })
      if (outcome === 'key_not_found') throw new UsageError(`no key ${keyId}`)
      return {
        data: { outcome },
        text: outcome === 'revoked' ? 'revoked' : 'it was already revoked',
      }
    },
  },
}

const RESUMED = {
  resumed: 'resumed',
  still_paused: 'lifted; the key stays paused for its owner, who resumes it in the dashboard',
  not_paused_by_operator: 'it was not paused by an operator',
  own_account: 'refused',
} as const

function keyIdOf([keyId]: readonly string[]): string {
  if (keyId === undefined) throw new UsageError('give the id of a key')
  return keyId
}

function knownModels({ models }: Config, ids: string[] | undefined): string[] | undefined {
  // All, as without the option, and as over HTTP.
  if (!ids || ids.includes('*')) return undefined
  const known = new Set(models.map((model) => model.id))
  const unknown = ids.filter((id) => !known.has(id))
  if (unknown.length > 0 || ids.length === 0)
    throw new UsageError(`--models: not in the catalog: ${unknown.join(', ')}`)
  return ids
}

/** `manage` is given in the dashboard only: the person who asks for it proves their identity there. */
function scopeOf(options: CommandOptions): KeyScope | undefined {
  const text = optionText(options, 'scope')
  if (text === undefined || text === 'calls' || text === 'account') return text
  throw new UsageError('--scope: must be calls or account; manage is given in the dashboard only')
}

function addresses(entries: string[] | undefined): string[] | undefined {
  if (!entries) return undefined
  try {
    createIpMatcher(entries)
  } catch (error) {
    throw new UsageError(`--ip-allowlist: ${(error as Error).message}`)
  }
  return entries
}

function budgetOf(
  options: CommandOptions,
): { limitPicoUsd: bigint; period: BudgetPeriod } | undefined {
  const text = optionText(options, 'budget-usd')
  if (text === undefined) {
    if (optionText(options, 'budget-period') === undefined) return undefined
    throw new UsageError('--budget-period: requires --budget-usd')
  }
  const limitPicoUsd = parseUsd(text)
  if (limitPicoUsd === undefined || limitPicoUsd > parseUsd('1000000')!)
    throw new UsageError(`--budget-usd: must be an amount such as 10 or 2.50, not "${text}"`)
  const period = optionText(options, 'budget-period') ?? 'month'
  if (!['day', 'month', 'lifetime'].includes(period))
    throw new UsageError('--budget-period: must be day, month or lifetime')
  return { limitPicoUsd, period: period as BudgetPeriod }
}

function dateOf(options: CommandOptions): Date | undefined {
  const text = optionText(options, 'expires-at')
  if (text === undefined) return undefined
  const date = new Date(text)
  if (Number.isNaN(date.getTime()))
    throw new UsageError(`--expires-at: must be a time such as 2027-01-31T00:00:00-03:00`)
  return date
}

function keyBody(key: ApiKeyDetails): Record<string, unknown> {
  return {
    id: key.id,
    customer_id: key.customerId,
    name: key.name,
    last_four: key.lastFour,
    status: key.status,
    scope: key.scope,
    model_ids: key.modelIds,
    ip_allowlist: key.ipAllowlist,
    requests_per_minute: key.requestsPerMinute,
    tokens_per_minute: key.tokensPerMinute,
    budget: key.budget && {
      limit_usd: jsonUsd(key.budget.limitPicoUsd),
      period: key.budget.period,
      spent_usd: jsonUsd(key.budget.spentPicoUsd),
    },
    last_used_at: key.lastUsedAt,
    expires_at: key.expiresAt,
    created_at: key.createdAt,
  }
}
