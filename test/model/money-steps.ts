/** Steps that move a customer's money or change its limits, beside the calls. */
import { revokeApiKey } from '../../src/customers/api-keys.ts'
import { changeApiKey } from '../../src/customers/change-api-key.ts'
import { updateTeam } from '../../src/customers/teams.ts'
import { inTransaction, type Database } from '../../src/platform/db/open.ts'
import { credit, debit } from '../../src/money/ledger/entries.ts'
import type { Operation } from './reference-ledger.ts'
import type { RunCustomer } from './run-schedule.ts'
import type { MoneyStep } from './steps.ts'
import { toNanoBrl, toPicoUsd } from './world.ts'

export async function performMoneyStep(
  db: Database,
  customer: RunCustomer,
  step: MoneyStep,
): Promise<void> {
  const id = customer.history.begin(operationOf(step))
  customer.history.answered(id, [await perform(db, customer, step)])
}

function operationOf(step: MoneyStep): Operation {
  switch (step.kind) {
    case 'credit':
    case 'debit':
      return { kind: step.kind, tokens: step.tokens, reference: `${step.kind}-${step.reference}` }
    case 'revoke':
      return { kind: 'revoke', key: step.key }
    case 'change_budget':
    case 'change_cap':
      return { kind: step.kind, tokens: step.tokens }
  }
}

async function perform(db: Database, customer: RunCustomer, step: MoneyStep): Promise<string> {
  switch (step.kind) {
    case 'credit':
    case 'debit': {
      const entry = {
        customerId: customer.id,
        amountNanoBrl: toNanoBrl(step.tokens),
        reason: step.kind === 'credit' ? 'top_up' : 'refund',
        reference: `${customer.id}-${step.reference}`,
      }
      const outcome = await (step.kind === 'credit' ? credit(db, entry) : debit(db, entry))
      return outcome.kind
    }
    case 'revoke':
      return revokeApiKey(db, customer.keyIds[step.key])
    case 'change_budget': {
      const budget = { limitPicoUsd: toPicoUsd(step.tokens), period: 'lifetime' as const }
      const changed = await changeApiKey(db, customer.id, customer.keyIds.budget, { budget })
      if (changed.kind === 'changed')
        customer.versions.budget = Math.max(customer.versions.budget, changed.key.version)
      return changed.kind
    }
    case 'change_cap': {
      const limitNanoBrl = step.tokens === null ? null : toNanoBrl(step.tokens)
      await inTransaction(db, (trx) => updateTeam(trx, customer.teamId, { limitNanoBrl }))
      return 'changed'
    }
  }
}
