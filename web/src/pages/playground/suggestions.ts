import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

/** First messages: a suggestion fills the field, and the user can change it before sending. */
export const SUGGESTIONS = perLanguage(
  (): readonly { readonly title: string; readonly text: string }[] => [
    {
      title: t('Explicar um assunto'),
      text: t(
        'Explique em três frases, para quem nunca ouviu falar, o que é um token num modelo de linguagem.',
      ),
    },
    {
      title: t('Responder a um cliente'),
      text: t(
        'Um cliente escreveu: “Meu pedido não chegou e ninguém responde.” Escreva uma resposta gentil e curta, com o próximo passo.',
      ),
    },
    {
      title: t('Escrever código'),
      text: t(
        'Escreva em Python uma função que confere os dígitos de um CPF, com dois exemplos de uso.',
      ),
    },
  ],
)
