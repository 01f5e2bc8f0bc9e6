/** Cards for tests of card payments. The numbers are Asaas's published ones for tests. */

export const APPROVED = '5162306219378829'
/** Refused when it is to be kept. */
export const DECLINED = '5184019740373151'
/** Kept, and refused when it is charged. */
export const DECLINED_LATER = '4000000000000002'

export const HOLDER = {
  name: 'Marília Souza',
  email: 'marilia@example.com',
  cpf_cnpj: '529.982.247-25',
  postal_code: '01310-100',
  address_number: '1578',
  phone: '(11) 98765-4321',
}

export function cardBody(number: string, more: object = {}): object {
  return {
    card: {
      holder_name: 'MARILIA SOUZA',
      number,
      expiry_month: '12',
      expiry_year: '2099',
      ccv: '318',
      ...more,
    },
    holder: HOLDER,
  }
}
