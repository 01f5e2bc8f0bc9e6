import { RestRefusal } from './rest-refusal.ts'

export function ownAccount(): RestRefusal {
  return new RestRefusal(
    403,
    'own_account',
    'nobody acts for their own account, nor for one whose team they belong to',
  )
}
