import { seedPayer } from '../../harness/payer.ts'
import { seedPerson } from '../../harness/seed-person.ts'
import { seedCustomer } from '../../harness/test-database.ts'
import type { TestGateway } from '../../harness/gateway.ts'
import type { ContractCases } from './contract-case.ts'

const PROFILE = {
  full_name: 'Padaria do Zé Ltda.',
  cpf_cnpj: '11.222.333/0001-81',
  phone: '(11) 98765-4321',
  postal_code: '01310-100',
  state: 'SP',
}

export async function createCases({ database }: TestGateway): Promise<ContractCases> {
  const { db } = database
  const person = await seedPerson(db)
  const empty = await seedCustomer(db, { balanceBrl: '0' })
  const fresh = await seedCustomer(db, { balanceBrl: '0' })
  const newcomer = await seedPayer(db, '39053344705')
  const { secret } = person
  return {
    'GET /session': [{ secret }, { secret: fresh.secret }, { isAnonymous: true, status: 401 }],
    'GET /me/profile': [
      { secret },
      { secret: fresh.secret, status: 404 },
      { isAnonymous: true, status: 401 },
    ],
    'PUT /me/profile': [
      { body: PROFILE, secret: fresh.secret },
      { body: { complement: null }, secret },
      { body: {}, secret: empty.secret, status: 400 },
      { body: { cpf_cnpj: '123' }, secret, status: 400 },
      { body: { cpf_cnpj: '11111111111' }, secret, status: 400 },
      { body: { state: 'XX' }, secret, status: 400 },
      { body: PROFILE, isAnonymous: true, status: 401 },
    ],
    'GET /me/preferences': [{ secret }, { isAnonymous: true, status: 401 }],
    'PUT /me/preferences': [
      { body: { timezone: 'America/Recife', preferred_locale: 'pt-BR' }, secret },
      { body: {}, secret },
      { body: { stored_responses_days: 30 }, secret: empty.secret },
      { body: { timezone: 'Recife' }, secret, status: 400 },
      { body: { stored_responses_days: 31 }, secret, status: 400 },
      { body: {}, isAnonymous: true, status: 401 },
    ],
    'GET /me/spending-guard': [{ secret }, { isAnonymous: true, status: 401 }],
    'PUT /me/spending-guard': [
      { body: { factor: 5 }, secret },
      { body: {}, secret },
      { body: { factor: null }, secret, status: 403 },
      { body: { factor: 1 }, secret, status: 400 },
      { body: {}, isAnonymous: true, status: 401 },
    ],
    'GET /me/shield': [{ secret }, { isAnonymous: true, status: 401 }],
    'PUT /me/shield': [
      { body: { action: 'mask' }, secret },
      { body: {}, secret },
      { body: { action: 'off' }, secret, status: 403 },
      { body: { action: 'guard' }, secret, status: 400 },
      { body: {}, isAnonymous: true, status: 401 },
    ],
    'GET /me/shield/report': [
      { secret },
      { path: '/me/shield/report?days=7', secret },
      { path: '/me/shield/report?days=0', secret, status: 400 },
      { isAnonymous: true, status: 401 },
    ],
    'GET /me/notifications': [
      { secret },
      { secret: empty.secret },
      { path: '/me/notifications?limit=0', secret, status: 400 },
      { isAnonymous: true, status: 401 },
    ],
    'GET /me/referrals': [
      { secret },
      { secret: empty.secret },
      { path: '/me/referrals?limit=201', secret, status: 400 },
      { isAnonymous: true, status: 401 },
    ],
    'GET /me/trial-credit': [
      { secret },
      { secret: empty.secret },
      { isAnonymous: true, status: 401 },
    ],
    'POST /me/trial-credit': [
      { secret: newcomer.secret, status: 201 },
      { secret: newcomer.secret, status: 409 },
      { secret: empty.secret, status: 400 },
      { isAnonymous: true, status: 401 },
    ],
    'GET /me/export': [{ secret }, { secret: empty.secret }, { isAnonymous: true, status: 401 }],
    'DELETE /me': [
      { body: { confirm: 'Teste' }, secret: empty.secret },
      { body: { confirm: person.email }, secret, status: 409 },
      { body: { confirm: 'x' }, secret, status: 400 },
      { body: {}, isAnonymous: true, status: 401 },
    ],
  }
}
