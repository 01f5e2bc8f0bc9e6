/** The settings that live mode requires of the operator, apart from upstreams. */
export const LIVE_ENVIRONMENT = {
  CATRACA_MODE: 'live',
  SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  SMTP_URL: 'smtps://user:secret@mail.example.com',
  MAIL_FROM: 'Catraca <avisos@mail.example.com>',
  COMPANY_NAME: 'Catraca Testes Ltda.',
  COMPANY_CNPJ: '11.222.333/0001-81',
  COMPANY_ADDRESS: 'Rua dos Testes, 1, São Paulo, SP',
  // No test fetches from the internet.
  PRICE_DATA_URL: '',
  CONTACT_EMAIL: 'contato@mail.example.com',
}
