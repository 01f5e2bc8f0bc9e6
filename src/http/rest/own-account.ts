import { RestRefusal } from './rest-refusal.ts'

export function ownAccount(): RestRefusal {
  return new RestRefusal(
    403,
    'own_account',
    'ninguém opera a própria conta, nem a de uma equipe de que participa',
  )
}
