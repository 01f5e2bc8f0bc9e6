/** Code of the API -> what the customer reads. Codes that are not here have a text by their status. */
export const ERROR_TEXTS: Readonly<Record<string, string>> = {
  network: 'Não conseguimos falar com a Catraca. Confira sua conexão e tente de novo.',
  internal_error: 'Algo falhou do nosso lado. Espere um instante e tente de novo.',
  unauthorized: 'Sua sessão terminou. Entre de novo para continuar.',
  csrf_token_missing: 'Sua sessão mudou em outra aba. Atualize a página e tente de novo.',
  invalid_request: 'Há um campo com valor inválido. Confira os dados e tente de novo.',
  rate_limit_exceeded: 'Muitos pedidos em pouco tempo. Espere um minuto e tente de novo.',
  payload_too_large: 'O conteúdo é grande demais. Diminua e tente de novo.',
  // Sign-in: the codes of better-auth.
  INVALID_EMAIL_OR_PASSWORD: 'E-mail ou senha não conferem. Tente de novo ou entre por um link.',
  INVALID_EMAIL: 'Este e-mail não parece válido. Confira se não falta algo.',
  INVALID_PASSWORD: 'A senha não confere.',
  EMAIL_NOT_VERIFIED: 'Falta confirmar seu e-mail. Abra o link que enviamos a você.',
  PASSWORD_TOO_SHORT: 'A senha é curta demais. Use ao menos 10 caracteres.',
  PASSWORD_TOO_LONG: 'A senha é longa demais. Use no máximo 128 caracteres.',
  USER_ALREADY_EXISTS: 'Já existe uma conta com este e-mail. Entre com ela.',
  USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL: 'Já existe uma conta com este e-mail. Entre com ela.',
  INVALID_TOKEN: 'Este link já foi usado ou venceu. Peça outro.',
  TOKEN_EXPIRED: 'Este link venceu. Peça outro.',
  TOO_MANY_REQUESTS: 'Muitas tentativas. Espere um minuto e tente de novo.',
  // Money in: profile, cards, top-ups.
  cpf_required: 'Antes, informe seu CPF ou CNPJ no perfil: sem ele não há como cobrar.',
  email_required: 'Antes, confirme um e-mail na sua conta: para ele vai o recibo.',
  invalid_cpf_cnpj_format: 'Um CPF tem 11 dígitos, um CNPJ tem 14 caracteres. Confira o número.',
  invalid_cpf_cnpj_checksum: 'Este CPF ou CNPJ não existe. Veja se há um dígito trocado.',
  payment_processor_unavailable:
    'O processador de pagamentos não respondeu. Espere um minuto e tente de novo.',
  too_many_rejected_cards:
    'Muitos cartões recusados em pouco tempo. Espere uma hora ou pague por Pix.',
  too_many_payment_methods: 'Você já tem o máximo de cartões. Exclua um que não usa.',
}
