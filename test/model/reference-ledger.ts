/**
 * The ideal ledger of one customer, in memory: the effect of each operation on the state, and its answer. It has no
 * concurrency and no failures. Amounts are tokens.
 */
import type { KeyName } from './steps.ts'

/** A limit beside the balance; without a limit the amounts are only counted. */
export interface Pot {
  readonly limit: number | null
  readonly held: number
  readonly spent: number
}

export interface CallState {
  readonly key: KeyName
  readonly amount: number
  readonly status: 'held' | 'charged' | 'released'
  /** The charge of the first outcome. */
  readonly billed: number
  /** The final charge, if a correction was posted. */
  readonly corrected: { readonly status: 'charged' | 'released'; readonly billed: number } | null
}

export interface CustomerState {
  readonly credited: number
  readonly debited: number
  readonly charged: number
  readonly held: number
  /** References of credits and debits. */
  readonly posted: readonly string[]
  readonly calls: Readonly<Record<number, CallState>>
  readonly revoked: readonly KeyName[]
  /** Increases with every change of a key. */
  readonly versions: Readonly<Record<KeyName, number>>
  readonly budgets: Readonly<Record<'budget' | 'both', Pot>>
  readonly cap: Pot
  readonly task: Pot
}

export type Operation =
  | {
      readonly kind: 'attempt'
      readonly call: number
      readonly key: KeyName
      /** The version of the key that the node knows. */
      readonly version: number
      readonly tokens: number
    }
  /** `tokens` null: a release. `isFinal`: the true outcome, even if the hold was resolved otherwise meanwhile. */
  | {
      readonly kind: 'resolve'
      readonly call: number
      readonly tokens: number | null
      readonly isFinal: boolean
    }
  | {
      readonly kind: 'credit' | 'debit'
      readonly tokens: number
      readonly reference: string
    }
  | { readonly kind: 'revoke'; readonly key: KeyName }
  | { readonly kind: 'change_budget' | 'change_cap'; readonly tokens: number | null }

export interface Applied {
  readonly state: CustomerState
  readonly outcome: string
}

export function openState(spec: {
  readonly balance: number
  readonly budget: number
  readonly cap: number | null
  readonly task: number
}): CustomerState {
  const pot = (limit: number | null): Pot => ({ limit, held: 0, spent: 0 })
  return {
    credited: spec.balance,
    debited: 0,
    charged: 0,
    held: 0,
    posted: [],
    calls: {},
    revoked: [],
    versions: { plain: 1, budget: 1, team: 1, both: 1, task: 1 },
    budgets: { budget: pot(spec.budget), both: pot(spec.budget) },
    cap: pot(spec.cap),
    task: pot(spec.task),
  }
}

export const balanceOf = (state: CustomerState): number =>
  state.credited - state.debited - state.charged

export function apply(state: CustomerState, operation: Operation): Applied {
  switch (operation.kind) {
    case 'attempt':
      return attempt(state, operation)
    case 'resolve':
      return resolve(state, operation.call, operation.tokens, operation.isFinal)
    case 'credit':
    case 'debit':
      return post(state, operation)
    case 'revoke':
      return revoke(state, operation.key)
    case 'change_budget':
      return changeBudget(state, operation.tokens)
    case 'change_cap':
      return {
        state: { ...state, cap: { ...state.cap, limit: operation.tokens } },
        outcome: 'changed',
      }
  }
}

function revoke(state: CustomerState, key: KeyName): Applied {
  if (state.revoked.includes(key)) return { state, outcome: 'already_inactive' }
  const revoked = [...state.revoked, key].sort()
  return { state: { ...nextVersion(state, key), revoked }, outcome: 'revoked' }
}

function changeBudget(state: CustomerState, limit: number | null): Applied {
  if (state.revoked.includes('budget')) return { state, outcome: 'key_revoked' }
  const budgets = { ...state.budgets, budget: { ...state.budgets.budget, limit } }
  return { state: { ...nextVersion(state, 'budget'), budgets }, outcome: 'changed' }
}

function nextVersion(state: CustomerState, key: KeyName): CustomerState {
  return { ...state, versions: { ...state.versions, [key]: state.versions[key] + 1 } }
}

function attempt(
  state: CustomerState,
  { call, key, version, tokens }: Operation & { kind: 'attempt' },
): Applied {
  const verdict = judge(state, key, version, tokens)
  if (verdict !== 'held') return { state, outcome: describeVerdict(verdict, state, key) }
  const after = movePots(
    {
      ...state,
      held: state.held + tokens,
      calls: {
        ...state.calls,
        [call]: { key, amount: tokens, status: 'held', billed: 0, corrected: null },
      },
    },
    key,
    { held: tokens, spent: 0 },
  )
  return { state: after, outcome: describeVerdict(verdict, after, key) }
}

function judge(state: CustomerState, key: KeyName, version: number, tokens: number): string {
  if (state.revoked.includes(key) || state.versions[key] !== version) return 'stale_key'
  if (tokens > balanceOf(state) - state.held) return 'short_balance'
  if (isOfTeam(key) && tokens > (leftOf(state.cap) ?? tokens)) return 'short_team'
  if (hasBudget(key) && tokens > (leftOf(state.budgets[key]) ?? tokens)) return 'short_budget'
  if (key === 'task' && tokens > (leftOf(state.task) ?? tokens)) return 'short_task'
  return 'held'
}

/** A verdict and its numbers; the numbers for a stale key are not promised. */
function describeVerdict(kind: string, state: CustomerState, key: KeyName): string {
  if (kind === 'stale_key') return kind
  const budgetLeft = hasBudget(key) ? leftOf(state.budgets[key]) : null
  const teamLeft = isOfTeam(key) ? leftOf(state.cap) : null
  const taskLeft = key === 'task' ? leftOf(state.task) : null
  const balance = balanceOf(state)
  return verdictText({ kind, balance, held: state.held, budgetLeft, teamLeft, taskLeft })
}

export function verdictText(verdict: {
  readonly kind: string
  readonly balance: number | null
  readonly held: number | null
  readonly budgetLeft: number | null
  readonly teamLeft: number | null
  readonly taskLeft: number | null
}): string {
  const { kind, balance, held, budgetLeft, teamLeft, taskLeft } = verdict
  return `${kind} balance=${balance} held=${held} budget=${budgetLeft} cap=${teamLeft} task=${taskLeft}`
}

function resolve(
  state: CustomerState,
  id: number,
  tokens: number | null,
  isFinal: boolean,
): Applied {
  const call = state.calls[id]
  if (!call) return { state, outcome: 'missing' }
  const billed = tokens ?? 0
  const status = tokens === null ? 'released' : 'charged'
  if (call.status === 'held') {
    const after = movePots(
      {
        ...state,
        held: state.held - call.amount,
        charged: state.charged + billed,
        calls: { ...state.calls, [id]: { ...call, status, billed } },
      },
      call.key,
      { held: -call.amount, spent: billed },
    )
    return { state: after, outcome: 'done' }
  }
  const stored = call.corrected ?? call
  if (stored.status === status && stored.billed === billed) return { state, outcome: 'repeated' }
  if (call.corrected) return { state, outcome: 'superseded' }
  if (!isFinal) return { state, outcome: 'superseded' }
  const more = billed - call.billed
  const corrected = movePots(
    {
      ...state,
      charged: state.charged + more,
      calls: { ...state.calls, [id]: { ...call, corrected: { status, billed } } },
    },
    call.key,
    { held: 0, spent: more },
  )
  return { state: corrected, outcome: 'corrected' }
}

function post(
  state: CustomerState,
  { kind, tokens, reference }: Operation & { kind: 'credit' | 'debit' },
): Applied {
  if (state.posted.includes(reference)) return { state, outcome: 'exists' }
  if (kind === 'debit' && tokens > balanceOf(state) - state.held)
    return { state, outcome: 'short_balance' }
  return {
    state: {
      ...state,
      credited: state.credited + (kind === 'credit' ? tokens : 0),
      debited: state.debited + (kind === 'debit' ? tokens : 0),
      posted: [...state.posted, reference].sort(),
    },
    outcome: 'posted',
  }
}

const isOfTeam = (key: KeyName): boolean => key === 'team' || key === 'both'
const hasBudget = (key: KeyName): key is 'budget' | 'both' => key === 'budget' || key === 'both'
const leftOf = (pot: Pot): number | null =>
  pot.limit === null ? null : pot.limit - pot.held - pot.spent

function movePots(
  state: CustomerState,
  key: KeyName,
  by: { readonly held: number; readonly spent: number },
): CustomerState {
  const move = (pot: Pot): Pot => ({
    ...pot,
    held: pot.held + by.held,
    spent: pot.spent + by.spent,
  })
  return {
    ...state,
    budgets: hasBudget(key) ? { ...state.budgets, [key]: move(state.budgets[key]) } : state.budgets,
    cap: isOfTeam(key) ? move(state.cap) : state.cap,
    task: key === 'task' ? move(state.task) : state.task,
  }
}
