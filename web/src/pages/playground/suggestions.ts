/** First messages: a suggestion fills the field, and the user can change it before sending. */
export const SUGGESTIONS: readonly { readonly title: string; readonly text: string }[] = [
  {
    title: 'Explicar um assunto',
    text: 'Explique em três frases, para quem nunca ouviu falar, o que é um token num modelo de linguagem.',
  },
  {
    title: 'Responder a um cliente',
    text: 'Um cliente escreveu: “Meu pedido não chegou e ninguém responde.” Escreva uma resposta gentil e curta, com o próximo passo.',
  },
  {
    title: 'Escrever código',
    text: 'Escreva em Python uma função que confere os dígitos de um CPF, com dois exemplos de uso.',
  },
]
