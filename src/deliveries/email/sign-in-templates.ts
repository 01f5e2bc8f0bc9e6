/** Mails by which people prove who they are. The reader need not be a customer. */
import type { DataReader, Template } from './mail-content.ts'

const NOT_YOU = 'Se não foi você, ignore este e-mail: se ninguém abrir o link acima, nada acontece.'

export const SIGN_IN_TEMPLATES = {
  confirmar_email: (data) => ({
    isToStranger: true,
    subject: 'Confirme o seu e-mail',
    paragraphs: [
      'Alguém criou uma conta com este endereço de e-mail. Se foi você, abra o link abaixo e digite a senha que escolheu.',
      'Ele vale por 24 horas.',
    ],
    link: linkTo(data, 'Confirmar o e-mail'),
    closing: [NOT_YOU],
  }),
  link_de_entrada: (data) => ({
    isToStranger: true,
    subject: 'Seu link de acesso',
    paragraphs: [
      'Abra o link abaixo para entrar na sua conta, sem senha. Ele funciona uma vez só e vale por 15 minutos.',
    ],
    link: linkTo(data, 'Entrar'),
    closing: ['Não repasse este e-mail a ninguém: quem tiver o link entra na sua conta.', NOT_YOU],
  }),
  nova_senha: (data) => ({
    isToStranger: true,
    subject: 'Escolha uma nova senha',
    paragraphs: [
      'Abra o link abaixo para escolher uma nova senha. Ele funciona uma vez só e vale por uma hora.',
      'Quem estiver com a sua conta aberta em outro lugar terá de entrar de novo.',
    ],
    link: linkTo(data, 'Escolher a senha'),
    closing: [NOT_YOU],
  }),
  conta_existente: (data) => ({
    isToStranger: true,
    subject: 'Você já tem uma conta',
    paragraphs: [
      'Alguém tentou criar uma conta com este endereço de e-mail, mas ela já existe. Nada mudou.',
      'Se foi você, entre com a sua senha ou peça um link de acesso. Se esqueceu a senha, escolha outra.',
    ],
    link: linkTo(data, 'Entrar'),
    closing: ['Se não foi você, ignore este e-mail.'],
  }),
} satisfies Record<string, Template>

function linkTo(data: DataReader, label: string) {
  const url = data.url('url')
  return url === undefined ? undefined : { label, url }
}
