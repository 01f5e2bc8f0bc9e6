import Type from 'typebox'
import { dateTime, nullable } from '../rest/values.ts'

const text = nullable(Type.String())

/** A profile as `profileRecord` returns it. */
export const profileFields = {
  full_name: Type.String(),
  cpf_cnpj: Type.String(),
  phone: text,
  postal_code: text,
  street: text,
  street_number: text,
  complement: text,
  district: text,
  city: text,
  state: text,
  created_at: dateTime,
  updated_at: dateTime,
}
