import { OPERATOR } from '../../platform/audit-log/audited.ts'
import { findCustomer, listCustomers, type Customer } from '../../customers/customers.ts'
import { listApiKeys } from '../../customers/api-keys.ts'
import { registerCustomer } from '../../customers/register-customer.ts'
import { changeSuspension } from '../../customers/suspend-customer.ts'
import { inTransaction, type Database } from '../../platform/db/open.ts'
import { creditByHand } from '../../money/ledger/credit-by-hand.ts'
import { findAccount, lockAccount, type Account } from '../../money/ledger/entries.ts'
import { createId } from '../../platform/lib/ids.ts'
import { decimalBrl, jsonBrl, parseBrl } from '../../platform/lib/money.ts'
import { optionText, requiredText, UsageError, type Command, type CommandInput } from './command.ts'
import { resetSecondFactor } from '../../identity/sign-in/reset-second-factor.ts'
import { RETURN_REASONS } from '../../money/payments/audit-money.ts'

export const customerCommands: Record<string, Command> = {
  'customer create': {
    usage: '--name NAME [--email EMAIL] [--referral-code CODE]',
    about: 'make a customer with an empty account',
    async run({ db, options }) {
      const name = requiredText(options, 'name')
      if (name.length > 200) throw new UsageError('--name: must be 200 characters at most')
      const email = optionText(options, 'email')
      if (email !== undefined && !/^[^\s@]+@[^\s@]+$/.test(email))
        throw new UsageError(`--email: not an e-mail address: "${email}"`)
      const referralCode = optionText(options, 'referral-code')
      const created = await register(db, { name, email, referralCode })
      return { data: customerBody(created), text: `created ${created.id}  ${created.name}` }
    },
  },
  'customer list': {
    usage: '',
    about: 'all customers with their balances',
    async run({ db }) {
      const customers = await listCustomers(db)
      const rows = await Promise.all(
        customers.map(async (customer) => ({
          customer,
          account: (await findAccount(db, customer.id)) as Account,
        })),
      )
      return {
        data: rows.map(({ customer, account }) => ({
          ...customerBody(customer),
          ...accountBody(account),
        })),
        text: {
          columns: ['id', 'name', 'email', 'balance BRL', 'held BRL'],
          rows: rows.map(({ customer, account }) => [
            customer.id,
            customer.name,
            customer.email ?? '',
            decimalBrl(account.balanceNanoBrl),
            decimalBrl(account.heldNanoBrl),
          ]),
        },
      }
    },
  },
  'customer show': {
    usage: '<id or e-mail>',
    about: 'one customer: account and keys',
    async run(input) {
      const customer = await anyCustomer(input)
      const account = (await findAccount(input.db, customer.id)) as Account
      const keys = await listApiKeys(input.db, customer.id)
      return {
        data: { ...customerBody(customer), ...accountBody(account), api_keys: keys.length },
        text: [
          `${customer.name}  ${customer.email ?? ''}`,
          `id       ${customer.id}`,
          `balance  ${decimalBrl(account.balanceNanoBrl)} BRL = ${decimalBrl(account.creditedNanoBrl)} credited - ${decimalBrl(account.debitedNanoBrl)} debited - ${decimalBrl(account.chargedNanoBrl)} charged`,
          `held     ${decimalBrl(account.heldNanoBrl)} BRL`,
          `keys     ${keys.filter((key) => !key.revokedAt).length} active, ${keys.filter((key) => key.revokedAt).length} revoked`,
        ].join('\n'),
      }
    },
  },
  'customer suspend': {
    usage: '<id or e-mail> --reason TEXT',
    about: 'refuse model calls and top-ups; the customer reads the reason',
    async run(input) {
      const reason = requiredText(input.options, 'reason')
      if (reason.length > 300) throw new UsageError('--reason: must be 300 characters at most')
      return changeSuspensionOf(input, reason)
    },
  },
  'customer reinstate': {
    usage: '<id or e-mail>',
    about: 'end the suspension of an account',
    run: (input) => changeSuspensionOf(input, undefined),
  },
  'customer reset-second-factor': {
    usage: '<id or e-mail> --reason TEXT',
    about: 'turn off the second factor of a customer who lost it, and end all of their sessions',
    async run(input) {
      const { id: customerId } = await theCustomer(input)
      const reason = requiredText(input.options, 'reason')
      const { kind } = await resetSecondFactor(input.db, OPERATOR, { customerId, reason })
      return { data: { customer_id: customerId, second_factor: kind }, text: kind }
    },
  },
  'customer credit': {
    usage: '<id or e-mail> --amount-brl N [--reason adjustment] [--reference TEXT] [--note TEXT]',
    about: 'credit the balance; the same reference is credited once',
    async run(input) {
      const customer = await theCustomer(input)
      const text = requiredText(input.options, 'amount-brl')
      const amountNanoBrl = parseBrl(text)
      // A `bigint` column overflows at 9.2 billion BRL (in nano-BRL); an amount near that is a typing error.
      if (
        amountNanoBrl === undefined ||
        amountNanoBrl <= 0n ||
        amountNanoBrl > parseBrl('1000000000')!
      ) {
        throw new UsageError(
          `--amount-brl: must be an amount such as 50 or 12.34, at most 1000000000, not "${text}"`,
        )
      }
      const reason = optionText(input.options, 'reason') ?? 'adjustment'
      if (!/^[a-z_]{1,40}$/.test(reason))
        throw new UsageError('--reason: must be of lower-case letters and underscores')
      if (RETURN_REASONS.includes(reason))
        throw new UsageError(`--reason: "${reason}" is reserved for entries of the service itself`)
      const outcome = await creditByHand(input.db, OPERATOR, {
        customerId: customer.id,
        amountNanoBrl,
        reason,
        reference: optionText(input.options, 'reference') ?? createId(),
        note: optionText(input.options, 'note'),
      })
      const account = (await findAccount(input.db, customer.id)) as Account
      const verb =
        outcome.kind === 'posted'
          ? `credited ${decimalBrl(amountNanoBrl)} BRL`
          : 'nothing credited: this reference was already credited'
      return {
        data: { outcome: outcome.kind, ...accountBody(account) },
        text: `${verb}; balance ${decimalBrl(account.balanceNanoBrl)} BRL`,
      }
    },
  },
}

/** Returns the customer that the first argument names; a deleted one is refused. */
export async function theCustomer(input: CommandInput): Promise<Customer> {
  const customer = await anyCustomer(input)
  if (customer.deletedAt) throw new UsageError(`customer ${customer.id} is deleted`)
  return customer
}

/** Like `theCustomer`, but also accepts a deleted customer. */
export async function anyCustomer({ db, args }: CommandInput): Promise<Customer> {
  const [idOrEmail] = args
  if (idOrEmail === undefined) throw new UsageError('give the id or e-mail of a customer')
  const customer = await findCustomer(db, idOrEmail)
  if (!customer) throw new UsageError(`no customer ${idOrEmail}`)
  return customer
}

async function changeSuspensionOf(input: CommandInput, reason: string | undefined) {
  const { id: customerId } = await theCustomer(input)
  await inTransaction(input.db, async (trx) => {
    await lockAccount(trx, customerId)
    await changeSuspension(trx, OPERATOR, { customerId, reason })
  })
  const isSuspended = reason !== undefined
  return {
    data: { customer_id: customerId, is_suspended: isSuspended },
    text: isSuspended ? 'suspended' : 'active',
  }
}

async function register(
  db: Database,
  input: { name: string; email: string | undefined; referralCode: string | undefined },
): Promise<Customer> {
  const registered = await registerCustomer(db, OPERATOR, input)
  switch (registered.kind) {
    case 'registered':
      return registered.customer
    case 'email_taken':
      throw new UsageError('a customer with this e-mail already exists')
    case 'code_not_found':
      throw new UsageError(`--referral-code: no customer has the code "${input.referralCode}"`)
  }
}

function customerBody(customer: Customer): Record<string, unknown> {
  return {
    id: customer.id,
    name: customer.name,
    email: customer.email,
    created_at: customer.createdAt,
    deleted_at: customer.deletedAt,
  }
}

function accountBody(account: Account): Record<string, unknown> {
  return {
    balance_brl: jsonBrl(account.balanceNanoBrl),
    credited_brl: jsonBrl(account.creditedNanoBrl),
    debited_brl: jsonBrl(account.debitedNanoBrl),
    charged_brl: jsonBrl(account.chargedNanoBrl),
    held_brl: jsonBrl(account.heldNanoBrl),
  }
}
