import { createId } from '../../../src/platform/lib/ids.ts'
import { seedPerson } from '../../harness/seed-person.ts'
import { seedCustomer } from '../../harness/test-database.ts'
import { APPROVED, cardBody, DECLINED_LATER } from '../../harness/cards.ts'
import { seedPayer } from '../../harness/payer.ts'
import { ask } from '../../harness/ask.ts'
import type { TestGateway } from '../../harness/gateway.ts'
import type { ContractCases } from './contract-case.ts'

export async function createCases({ database, node }: TestGateway): Promise<ContractCases> {
  const { db } = database
  const { secret } = await seedPerson(db)
  const nobody = await seedCustomer(db, { balanceBrl: '0' })
  const holder = await seedPayer(db)
  const add = async (number: string): Promise<string> => {
    const options = { secret: holder.secret, body: cardBody(number) }
    return (await ask(node.baseUrl, '/payment-methods', options)).json.id
  }
  const charge = { amount: 20, method: 'card', payment_method_id: await add(APPROVED) }
  const declined = { ...charge, payment_method_id: await add(DECLINED_LATER) }
  const paid = await ask(node.baseUrl, '/topups', { secret: holder.secret, body: charge })
  const { json } = await ask(node.baseUrl, '/topups', { secret, body: { amount: 25.5 } })
  return {
    'POST /topups': [
      { body: { amount: 50 }, secret, status: 201 },
      { body: { amount: 50, method: 'boleto' }, secret, status: 201 },
      { body: { amount: 5 }, secret, status: 400 },
      { body: { amount: 50, method: 'cash' }, secret, status: 400 },
      { body: { amount: 50 }, secret: nobody.secret, status: 400 },
      { body: charge, secret: holder.secret, status: 201 },
      { body: declined, secret: holder.secret, status: 400 },
      { body: charge, secret, status: 404 },
      // With these centavos the sandbox disconnects before it answers.
      { body: { amount: 50.91 }, secret, status: 503 },
      { body: { amount: 50 }, isAnonymous: true, status: 401 },
    ],
    'GET /topups': [
      { secret },
      { path: '/topups?limit=1', secret },
      { path: '/topups?limit=0', secret, status: 400 },
      { isAnonymous: true, status: 401 },
    ],
    'GET /topups/{id}': [
      { path: `/topups/${json.id}`, secret },
      { path: `/topups/${paid.json.id}`, secret: holder.secret },
      { path: `/topups/${createId()}`, secret, status: 404 },
      { path: `/topups/${json.id}`, isAnonymous: true, status: 401 },
    ],
  }
}
