import { OPERATOR } from '../../platform/audit-log/audited.ts'
import { decimalBrl, jsonBrl } from '../../platform/lib/money.ts'
import { deleteAccount, type DeletionOutcome } from '../../identity/personal-data/delete-account.ts'
import { eraseRemains } from '../../identity/personal-data/erase-remains.ts'
import { exportAccount, WHOLE_EXPORT } from '../../identity/personal-data/export-account.ts'
import { UsageError, type Command } from './command.ts'
import { anyCustomer, theCustomer } from './customer-commands.ts'

export const personalDataCommands: Record<string, Command> = {
  'customer export': {
    usage: '<id or e-mail>',
    about: 'all data stored about a customer, as JSON: the copy that the LGPD grants',
    async run(input) {
      const customer = await theCustomer(input)
      const document = await exportAccount(input.db, OPERATOR, {
        customerId: customer.id,
        bounds: WHOLE_EXPORT,
      })
      return { data: document, text: JSON.stringify(document, null, 2) }
    },
  },
  'customer delete': {
    usage: '<id or e-mail> [--waive-balance]',
    about:
      'delete the account permanently: revoke its keys and erase personal data; the ledger stays',
    async run(input) {
      const customer = await anyCustomer(input)
      const outcome = await deleteAccount(input.db, OPERATOR, {
        customerId: customer.id,
        waiveBalance: input.options['waive-balance'] === true,
      })
      const text = deletionText(outcome)
      await eraseRemains(input.db, customer.id)
      return {
        data: {
          outcome: outcome.kind,
          id: customer.id,
          waived_brl: jsonBrl(outcome.kind === 'deleted' ? outcome.waivedNanoBrl : 0n),
        },
        text,
      }
    },
  },
}

function deletionText(outcome: DeletionOutcome): string {
  switch (outcome.kind) {
    case 'deleted':
      return `deleted; ${decimalBrl(outcome.waivedNanoBrl)} BRL waived, ${outcome.revokedKeyIds.length} keys revoked`
    case 'already_deleted':
      return 'it was already deleted; its remaining data is now erased'
    case 'balance_remaining':
      throw new UsageError(
        `${decimalBrl(outcome.balanceNanoBrl)} BRL remain: refund them first, or pass --waive-balance`,
      )
    case 'calls_running':
      throw new UsageError('calls are running and hold money; try again when they have ended')
    case 'refund_in_review':
      throw new UsageError('a refund waits for approval: decide on it first')
    case 'customer_not_found':
      throw new UsageError('no such customer')
    default:
      throw new Error(`the command line acts without a key: ${outcome.kind}`)
  }
}
